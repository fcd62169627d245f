/** A part of a mail, in the order of reading. */
export type LetterPart =
  | { kind: 'paragraph'; text: string }
  /** Small print: when a link expires, why this mail came. */
  | { kind: 'note'; text: string }
  | { kind: 'facts'; rows: readonly (readonly [label: string, value: string])[] }
  /** Words of an agent or another person, under a heading that says whose they are. */
  | { kind: 'quote'; heading: string; text: string }
  | { kind: 'link'; label: string; url: string };

/** The content of a mail. Texts are plain: both renderings escape what they need to. */
export interface Letter {
  /** Also the heading. Purser's own words, amounts and slugs only: it becomes a header. */
  subject: string;
  parts: readonly LetterPart[];
}

const LINE = 72;

/** Breaks at spaces; a word longer than a line, such as a link, stays whole. */
function wrapped(text: string, indent = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > LINE) {
      lines.push(indent + line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(indent + line);
  return lines.join('\n');
}

function textOf(part: LetterPart): string {
  switch (part.kind) {
    case 'paragraph':
    case 'note':
      return wrapped(part.text);
    case 'facts': {
      const width = Math.max(...part.rows.map(([label]) => label.length)) + 2;
      return part.rows.map(([label, value]) => `${`${label}:`.padEnd(width)}${value}`).join('\n');
    }
    case 'quote':
      return `${part.heading}\n${wrapped(part.text, '> ')}`;
    case 'link':
      return `${part.label}:\n${part.url}`;
  }
}

/** The text part: lines of at most 72 characters, links in full. */
export function renderText(letter: Letter): string {
  return `${[letter.subject, ...letter.parts.map(textOf)].join('\n\n')}\n`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes a text for HTML, in content and in attributes in double quotes. */
function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ESCAPES[sign] as string);
}

/** Inline, because many mail programs drop style sheets. */
const STYLE = {
  body: 'margin:0;padding:24px 12px;background-color:#f4f5f7;color:#1b1f24;font:16px/1.5 -apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif',
  card: 'max-width:560px;margin:0 auto;padding:24px;background-color:#ffffff;border:1px solid #d8dce2;border-radius:8px',
  heading: 'margin:0 0 16px;font-size:20px;line-height:1.3',
  paragraph: 'margin:0 0 16px',
  note: 'margin:0 0 12px;font-size:14px;color:#57606a',
  facts: 'width:100%;margin:0 0 16px;border-collapse:collapse',
  label:
    'padding:4px 16px 4px 0;text-align:left;vertical-align:top;font-weight:normal;color:#57606a;width:1%;white-space:nowrap',
  value: 'padding:4px 0;vertical-align:top;overflow-wrap:anywhere',
  quoteHeading: 'margin:0 0 4px;font-size:14px;color:#57606a',
  quote: 'margin:0 0 16px;padding:8px 12px;border-left:3px solid #d8dce2;overflow-wrap:anywhere',
  button:
    'display:inline-block;padding:10px 18px;background-color:#1f4fd8;color:#ffffff;border-radius:6px;text-decoration:none;font-weight:600',
  plainLink: 'margin:0 0 16px;font-size:13px;color:#57606a;overflow-wrap:anywhere',
} as const;

const element = (tag: string, style: keyof typeof STYLE, content: string) =>
  `<${tag} style="${STYLE[style]}">${content}</${tag}>`;

function htmlOf(part: LetterPart): string {
  switch (part.kind) {
    case 'paragraph':
    case 'note':
      return element('p', part.kind, escaped(part.text));
    case 'facts': {
      const rows = part.rows.map(
        ([label, value]) =>
          `<tr><th scope="row" style="${STYLE.label}">${escaped(label)}</th>${element('td', 'value', escaped(value))}</tr>`,
      );
      return `<table style="${STYLE.facts}">${rows.join('')}</table>`;
    }
    case 'quote':
      return `${element('p', 'quoteHeading', escaped(part.heading))}${element('blockquote', 'quote', escaped(part.text))}`;
    case 'link':
      return [
        `<p style="${STYLE.paragraph}"><a href="${escaped(part.url)}" style="${STYLE.button}">${escaped(part.label)}</a></p>`,
        element('p', 'plainLink', escaped(part.url)),
      ].join('\n');
  }
}

/** The HTML part: one page without images, scripts or anything to load. */
export function renderHtml(letter: Letter): string {
  const parts = [element('h1', 'heading', escaped(letter.subject)), ...letter.parts.map(htmlOf)];
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light">',
    `<title>${escaped(letter.subject)}</title></head>`,
    `<body style="${STYLE.body}">`,
    `<div style="${STYLE.card}">`,
    ...parts,
    '</div>',
    '</body>',
    '</html>',
    '',
  ].join('\n');
}
