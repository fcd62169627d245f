-- compatible-with: 27
-- A document of more than 8 KB, as with many limits over time, is kept as it is too: to compress it costs more than to write
-- it, and PostgreSQL must not be built with anything faster than its own compression. What was compressed stays so.
alter table decisions alter column document set storage external;
alter table webhook_events alter column payload set storage external;
