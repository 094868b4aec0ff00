-- When a key called for the first time, so that whoever set a program up sees that it is connected. Real time.
ALTER TABLE api_key ADD COLUMN first_call_ms INTEGER;
