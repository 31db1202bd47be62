# The image for GitHub, GitLab and everything else: small-action and small-hook, static, under /usr/local/bin, with git and a shell. It has
# no entry point and no user: it runs as root, as GitHub needs, under any other id, and on a read-only file system.
#
# To build behind a mirror, name the images and the module proxy:
#   docker build --build-arg GO_IMAGE=... --build-arg BASE_IMAGE=... --build-arg GOPROXY=... .
ARG GO_IMAGE=go
ARG BASE_IMAGE=base

# Dependabot finds images only where FROM names them, so the defaults above are these stages.
FROM docker.io/library/golang:1.26-bookworm@sha256:a688600ca24f8a4d3ca77f95b0dd40704a9fc787c826660eb7ba0b641b8b175d AS go
FROM docker.io/library/alpine:3.22@sha256:5291449c3df73caf6ed85e649dec1b9e818b39a5d8c871e97afc13e9cd5e8fa8 AS base

FROM ${GO_IMAGE} AS build
ARG GOPROXY
ARG GOSUMDB
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# The version that the programs report; without one they say "devel".
ARG VERSION=
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -o /out/ \
      -ldflags "-s -w -X github.com/small-gate/small-gate/internal/base/version.version=${VERSION}" \
      ./cmd/small-hook ./cmd/small-action

FROM ${BASE_IMAGE}
# A base that already has git stays as it is.
RUN git --version || apk add --no-cache git
COPY --from=build /out/ /usr/local/bin/
ARG VERSION=
ARG REVISION=
LABEL org.opencontainers.image.title="small-gate" \
      org.opencontainers.image.description="Guards the append-only progress log of the SMALL protocol" \
      org.opencontainers.image.url="https://github.com/small-gate/small-gate" \
      org.opencontainers.image.source="https://github.com/small-gate/small-gate" \
      org.opencontainers.image.documentation="https://github.com/small-gate/small-gate/blob/main/docs/ci.md" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
CMD ["/bin/sh"]
