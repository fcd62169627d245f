import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMe } from '../../api/queries.ts';
import type { Search } from '../../lib/search.ts';
import { isSameSearch, removeView, saveView, useViews, type View } from '../../lib/views.ts';
import { Button } from '../Button.tsx';
import { Actions, Dialog } from '../Dialog.tsx';
import { TextField } from '../Field.tsx';
import chips from '../Filters.module.css';

/** A view is current only if its filters match exactly. */
const EXACTLY = { exact: true, includeSearch: true };
const MAX_NAME = 40;

/** Named filters and orders of a list: the built-in ones, and those that the person saved in this browser. */
export function Views({
  screen,
  to,
  search,
  built_in = [],
  may_save = true,
}: {
  screen: string;
  to: string;
  /** The filters and the order that a view has. */
  search: Search;
  built_in?: readonly View[];
  may_save?: boolean;
}) {
  const { workspace, principal_id } = useMe();
  const of = { workspace_id: workspace.id, principal_id, screen };
  const saved = useViews(of);
  const own = may_save ? saved : [];
  const [is_naming, setNaming] = useState(false);
  const is_new =
    may_save &&
    Object.keys(search).length > 0 &&
    ![...built_in, ...own].some((each) => isSameSearch(each.search, search));
  if (built_in.length + own.length === 0 && !is_new && !is_naming) return null;
  const linkTo = (view: View) => (
    <Link
      key={view.name}
      to={to}
      search={view.search}
      activeOptions={EXACTLY}
      aria-current={isSameSearch(view.search, search) ? 'true' : undefined}
    >
      {view.name}
    </Link>
  );
  return (
    <nav className={chips.views} aria-label="Views">
      {built_in.map(linkTo)}
      {own.map((view) => (
        <span key={view.name}>
          {linkTo(view)}
          <button
            type="button"
            aria-label={`Delete view ${view.name}`}
            onClick={() => removeView(of, view.name)}
          >
            ✕
          </button>
        </span>
      ))}
      {is_new && (
        <Button small kind="quiet" onClick={() => setNaming(true)}>
          + Save view
        </Button>
      )}
      {is_naming && (
        <SaveView onClose={() => setNaming(false)} onSave={(name) => saveView(of, { name, search })} />
      )}
    </nav>
  );
}

function SaveView({ onSave, onClose }: { onSave: (name: string) => void; onClose: () => void }) {
  const [name, setName] = useState('');
  return (
    <Dialog title="Save these filters" onClose={onClose}>
      <form
        style={{ display: 'grid', gap: '1rem' }}
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() === '') return;
          onSave(name.trim().slice(0, MAX_NAME));
          onClose();
        }}
      >
        <TextField
          label="View name"
          autoFocus
          required
          maxLength={MAX_NAME}
          hint="Saved for you in this browser. To share it, send the URL of this page."
          value={name}
          onValue={setName}
        />
        <Actions>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit">
            Save
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
