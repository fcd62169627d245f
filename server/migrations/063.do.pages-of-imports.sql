-- compatible-with: 58
-- How many pages of a file were recorded, so that a page that is sent again after a lost answer counts once.
alter table import_progress add column pages integer not null default 0;
