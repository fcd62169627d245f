FROM node:24.21.0-slim AS build
WORKDIR /app
# .dockerignore lets only sources through, never settings, keys or data.
COPY . .
RUN npm ci --no-audit --no-fund && npm run build && npm prune --omit=dev

FROM node:24.21.0-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
WORKDIR /app
COPY --from=build /app /app
# The signed checkpoints of the history, outside the database.
RUN install -d -o node -g node -m 700 /data
VOLUME /data
USER node
EXPOSE 8080
HEALTHCHECK CMD ["node", "-e", "fetch('http://127.0.0.1:8080/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# As npm start runs it (docs/decisions/0006).
CMD ["node", "--max-semi-space-size=8", "server/dist/main.js", "serve"]
