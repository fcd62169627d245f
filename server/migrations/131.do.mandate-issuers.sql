-- compatible-with: 131
-- Issuers that sign mandates of payers (AP2, Verifiable Intent) with a P-256 key. Builds before this one would leave the format out
-- when they verify an issuer, so they are stopped first.
alter table allowance_issuers add column format text collate "C";
