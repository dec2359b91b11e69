# The service: docs/service.md describes how to run it.
FROM python:3.11-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN pip wheel --no-deps --wheel-dir /wheels .

# Java comes with the Python packages.
FROM python:3.11-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "$(echo /wheels/forklake-*.whl)[server,reagent]" && rm -r /wheels \
    && useradd --create-home --uid 1000 forklake \
    && install --directory --owner=forklake /srv/lake
USER forklake
WORKDIR /srv/lake
EXPOSE 8480
CMD ["forklake", "serve", "--create", "--host", "0.0.0.0"]
