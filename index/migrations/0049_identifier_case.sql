-- The spelling in which subjects and groups are stored: `fold` or `keep`, as in NEARHIT_IDENTIFIER_CASE.
-- No row: as callers wrote them, by an earlier version. See index/postgres/identifier_spellings.py.
CREATE TABLE identifier_cases (
    singleton       boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    identifier_case text NOT NULL CHECK (identifier_case IN ('fold', 'keep'))
);
