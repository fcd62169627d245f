-- compatible-with: 17
-- What ENFORCE decided is counted by reason and agent too, so everything is added up anew: builds before this one would add
-- up by the old names meanwhile, so they are stopped first.
truncate report_counters, report_counted, report_watermarks;
delete from skipped_events where follower = 'report';
