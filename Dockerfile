# Two images come from this file. Both hold small-action and small-hook, static, under /usr/local/bin.
#
#   docker build .                   for GitHub Actions: the two programs and nothing else; the entry point is small-action
#   docker build --target gitlab .   for GitLab, Jenkins and others that start a job in a shell: with sh and git, no entry point
#
# Neither names a user: both run as root, as GitHub wants it, and under any other id. To build behind a mirror, name the
# images and the module proxy: --build-arg GO_IMAGE=..., --build-arg SHELL_IMAGE=..., --build-arg GOPROXY=...
ARG GO_IMAGE=docker.io/library/golang:1.26-bookworm
ARG SHELL_IMAGE=docker.io/library/alpine:3.22

FROM ${GO_IMAGE} AS build
ARG GOPROXY
ARG GOSUMDB
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# The version that the programs report; without one they say "devel".
ARG VERSION=
RUN mkdir -p /out/bin /out/files/tmp && chmod 1777 /out/files/tmp && \
    CGO_ENABLED=0 go build -trimpath -buildvcs=false -o /out/bin/ \
      -ldflags "-s -w -X github.com/small-gate/small-gate/internal/version.version=${VERSION}" \
      ./cmd/small-hook ./cmd/small-action

# A base that has git already is taken as it is.
FROM ${SHELL_IMAGE} AS gitlab
RUN if ! command -v git >/dev/null; then \
      if command -v apk >/dev/null; then apk add --no-cache git; \
      else apt-get update && apt-get install -y --no-install-recommends git ca-certificates && rm -rf /var/lib/apt/lists/*; fi; \
    fi && git --version
COPY --from=build /out/bin/ /usr/local/bin/
ARG VERSION=
ARG REVISION=
LABEL org.opencontainers.image.title="small-gate" \
      org.opencontainers.image.description="Guards the append-only progress log of the SMALL protocol; with sh and git" \
      org.opencontainers.image.url="https://github.com/small-gate/small-gate" \
      org.opencontainers.image.source="https://github.com/small-gate/small-gate" \
      org.opencontainers.image.documentation="https://github.com/small-gate/small-gate/blob/main/docs/gitlab.md" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
ENTRYPOINT []
CMD ["/bin/sh"]

# The last stage is what GitHub builds from action.yml.
FROM scratch AS action
COPY --from=build /out/files/ /
COPY --from=build /out/bin/ /usr/local/bin/
ENV PATH=/usr/local/bin HOME=/tmp
ARG VERSION=
ARG REVISION=
LABEL org.opencontainers.image.title="small-gate" \
      org.opencontainers.image.description="Guards the append-only progress log of the SMALL protocol" \
      org.opencontainers.image.url="https://github.com/small-gate/small-gate" \
      org.opencontainers.image.source="https://github.com/small-gate/small-gate" \
      org.opencontainers.image.documentation="https://github.com/small-gate/small-gate/blob/main/docs/github.md" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
ENTRYPOINT ["/usr/local/bin/small-action"]
