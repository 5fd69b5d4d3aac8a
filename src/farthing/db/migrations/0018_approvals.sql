-- Approvals: what rules let wait until somebody says yes or no.

CREATE TABLE approvals (
    tenant_id uuid NOT NULL REFERENCES tenants,
    id uuid NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    state_id text NOT NULL CHECK (state_id IN ('PENDING', 'APPROVED', 'REJECTED', 'EXPIRED')),
    tags jsonb NOT NULL CHECK (jsonb_typeof(tags) = 'array'),
    annotations jsonb NOT NULL CHECK (jsonb_typeof(annotations) = 'object'),
    rule_id uuid NOT NULL,
    noun text NOT NULL CHECK (noun IN ('transaction', 'card', 'bank_account', 'customer')),
    object_id uuid NOT NULL,
    asked_by text NOT NULL CHECK (asked_by IN ('CUSTOMER', 'CLIENT', 'OPERATOR', 'PLATFORM')),
    asked_as text NOT NULL,
    four_eyes boolean NOT NULL,
    message text,
    expires_at timestamptz NOT NULL,
    decided_by text CHECK (decided_by IN ('CLIENT', 'OPERATOR')),
    reason text,
    PRIMARY KEY (tenant_id, id),
    CHECK ((decided_by IS NULL) = (state_id IN ('PENDING', 'EXPIRED')))
);
CREATE INDEX approvals_that_wait ON approvals (tenant_id, id) WHERE state_id = 'PENDING';
CREATE INDEX approvals_by_object ON approvals (tenant_id, object_id, id);
CREATE INDEX approvals_by_rule ON approvals (tenant_id, rule_id, id);
CREATE INDEX approvals_by_expiry ON approvals (expires_at) WHERE state_id = 'PENDING';
CREATE INDEX approvals_by_own_expiry ON approvals (tenant_id, expires_at)
    WHERE state_id = 'PENDING';

GRANT SELECT, INSERT, UPDATE ON approvals TO farthing_app;
GRANT SELECT, INSERT, DELETE ON approvals TO farthing_keeper;

-- What waits in PENDING, and has no requirements on the wire.
ALTER TABLE customers ADD COLUMN approval_id uuid,
    ADD CHECK (approval_id IS NULL OR state_id = 'PENDING');
ALTER TABLE bank_accounts ADD COLUMN approval_id uuid,
    ADD CHECK (approval_id IS NULL OR state_id = 'PENDING');

-- What was to stay in PENDING waits there.
ALTER TABLE transactions DROP CONSTRAINT transactions_check2;
ALTER TABLE transactions ADD CONSTRAINT transactions_check2
    CHECK (requirements = '{}' OR state_id IN ('PENDING', 'PROCESSING'));
