-- The embedder may be unable to embed a text: its vector is the zero vector, which stands for none.

-- `nearhit status` counts these texts; the index holds nothing else.
CREATE INDEX embeddings_without_vector ON embeddings (tenant, embedding_space, digest)
    WHERE l2_norm(dense) = 0;
