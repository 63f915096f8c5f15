-- Strategies: search plans that a tenant has stored under a name, with parameters.

-- strategy: its description, its parameters, and the plan with the names of parameters in their places.
CREATE TABLE strategies (
    tenant     text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    name       text NOT NULL,
    strategy   jsonb NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, name)
);
