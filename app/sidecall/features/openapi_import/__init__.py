"""Operations of HTTP services as tools, from their OpenAPI documents."""
