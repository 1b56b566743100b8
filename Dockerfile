# syntax=docker/dockerfile:1
FROM rust:1.95-slim-bookworm AS build
WORKDIR /src
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
COPY Cargo.toml Cargo.lock clippy.toml ./
COPY assets assets
COPY benches benches
COPY src src
# The same steps as .ci/run, without the tests.
RUN cargo build --release --locked

FROM debian:bookworm-slim
RUN useradd --system --uid 10001 --no-create-home askback \
    && install -d -o askback -g askback /var/lib/askback
COPY --from=build /src/target/release/askback /usr/local/bin/askback
COPY config /etc/askback
COPY docs /usr/share/askback/docs
COPY LICENSE NOTICE /usr/share/askback/
# The shipped configuration reads `docs` from the working directory.
WORKDIR /usr/share/askback
ENV ASKBACK_CONFIG_DIR=/etc/askback \
    ASKBACK__SERVER__ADDRESS=0.0.0.0:8080 \
    ASKBACK__DATA__DIR=/var/lib/askback \
    ASKBACK__LOG__FORMAT=json
USER askback
VOLUME /var/lib/askback
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=90s CMD ["askback", "health"]
ENTRYPOINT ["askback"]
CMD ["serve"]
