-- compatible-with: 95
-- What the money of a lease was spent on, as JSON text of the payment rail. Builds before this one would leave it out when they
-- verify an outcome, so they are stopped first.
alter table outcomes add column usage text;
