-- issuer_key: of a token made with another issuer's web token, the thumbprint of the issuer's key that
--             verified it; null for the others. The token works only while the issuer publishes the key.
ALTER TABLE keys ADD issuer_key text;
