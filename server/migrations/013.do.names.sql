-- compatible-with: 13
-- Tables under the names of the glossary. Builds before this one know the old names alone, so they are stopped first.
alter table run_out_holds rename to expired_reservations;
alter table dealings rename to feedback;
alter table dealings_counted rename to decision_lessons;
alter table dealings_watermarks rename to feedback_watermarks;
alter index dealings_counted_by_merchant rename to decision_lessons_by_merchant;
