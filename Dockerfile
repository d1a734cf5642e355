# An image of the program, built from this folder:
#   docker build -t kvcheck .                                    # or podman
#   docker run --rm -v "$PWD:/data" kvcheck trace info run.npz   # files of this folder
FROM debian:12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ cmake ninja-build dpkg-dev file \
      pkg-config libboost1.81-dev libboost-json1.81-dev libicu-dev \
      libsqlite3-dev libzip-dev zlib1g-dev libxxhash-dev libhwy-dev libeigen3-dev librapidcheck-dev

COPY . /kvcheck
RUN cmake -S /kvcheck -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release \
      -DKVCHECK_TESTS=OFF -DKVCHECK_BENCH=OFF && \
    cmake --build /build && \
    cpack --config /build/CPackConfig.cmake -B /package

# The package without what other programs are built with, and gnuplot for the figures of reports.
FROM debian:12-slim
RUN --mount=type=bind,from=build,source=/package,target=/package \
    apt-get update && apt-get install -y --no-install-recommends \
      -o Dpkg::Options::=--path-exclude=/usr/include/* -o Dpkg::Options::=--path-exclude=*.a \
      /package/kvcheck_*.deb gnuplot-nox fonts-dejavu-core && \
    rm -rf /var/lib/apt/lists/*
WORKDIR /data
ENTRYPOINT ["kvcheck"]
CMD ["help"]
