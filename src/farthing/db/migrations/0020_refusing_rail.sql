-- The sandbox's rail can also refuse what it is told to do.

ALTER TABLE sandbox_moods DROP CONSTRAINT sandbox_moods_mood_check;
ALTER TABLE sandbox_moods ADD CONSTRAINT sandbox_moods_mood_check
    CHECK (mood IN ('normal', 'slow', 'down', 'forgetful', 'refusing'));
