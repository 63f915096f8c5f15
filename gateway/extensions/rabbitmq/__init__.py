"""Events from RabbitMQ: what each says, how it is applied once, and what becomes of the others."""
