-- compatible-with: 17
-- What each workspace used of the purpose model in each day (UTC), of all nodes together: for reports, and for the limit of
-- a day. It judges nothing and is in no chain.
create table model_usage (
  workspace_id text collate "C" not null,
  day date not null,
  calls bigint not null,
  input_tokens bigint not null,
  -- Of the input, what the provider had read before.
  cached_tokens bigint not null,
  output_tokens bigint not null,
  -- Empty where no prices are set; the cost is 0 then.
  currency text collate "C" not null,
  -- Millionths of a unit of the currency.
  cost_micros bigint not null,
  primary key (workspace_id, day, currency)
);
