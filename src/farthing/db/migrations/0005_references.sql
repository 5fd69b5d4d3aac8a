-- References: what payers put on bank transfers. The bare noun is a keyword of SQL.

CREATE TABLE payment_references (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    state_id text NOT NULL CHECK (state_id IN ('ENABLED', 'EXPIRED', 'CLOSED')),
    tags jsonb NOT NULL CHECK (jsonb_typeof(tags) = 'array'),
    annotations jsonb NOT NULL CHECK (jsonb_typeof(annotations) = 'object'),
    to_account_id uuid NOT NULL,
    owner_id uuid NOT NULL,
    from_customer_id uuid,
    currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    text text NOT NULL CHECK (text ~ '^RF[0-9]{2}[A-Z0-9]{14}$'),
    expires_at timestamptz NOT NULL,
    receiving_details jsonb NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, text),
    FOREIGN KEY (tenant_id, to_account_id) REFERENCES accounts,
    FOREIGN KEY (tenant_id, owner_id) REFERENCES customers,
    FOREIGN KEY (tenant_id, from_customer_id) REFERENCES customers
);
CREATE INDEX payment_references_by_owner ON payment_references (tenant_id, owner_id, id);
CREATE INDEX payment_references_by_account ON payment_references (tenant_id, to_account_id, id);
CREATE INDEX payment_references_by_payer ON payment_references
    (tenant_id, to_account_id, from_customer_id, id) WHERE state_id = 'ENABLED';
CREATE INDEX payment_references_by_tag ON payment_references
    USING gin (tags jsonb_path_ops) WHERE tags <> '[]';
CREATE INDEX payment_references_by_annotation ON payment_references
    USING gin (annotations jsonb_path_ops) WHERE annotations <> '{}';
CREATE INDEX payment_references_by_expiry ON payment_references (expires_at)
    WHERE state_id = 'ENABLED';

GRANT SELECT, INSERT, UPDATE ON payment_references TO farthing_app;
