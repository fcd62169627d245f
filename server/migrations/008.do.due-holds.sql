-- compatible-with: 7
-- The sweep asks which holds of all workspaces are due, once a second on every node. This index begins with the time and
-- not with workspace_id as all others do: led by the workspace, the answer "none" would cost a look at every live hold
-- of every tenant. Where the schema is distributed by workspace_id, each part has its own index and its own sweep. Every
-- row is in it; the condition keeps it from the look-ups by key, which do not repeat it.
create index expiring_holds_by_time on expiring_holds (expires_at, decision_id) where decision_id <> '';
