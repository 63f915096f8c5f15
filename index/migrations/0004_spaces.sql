-- A tenant may move from one embedder's space to another's while the others stay.

-- Null: the space of the index as a whole, in the table `generation`.
ALTER TABLE tenants ADD COLUMN space text;
