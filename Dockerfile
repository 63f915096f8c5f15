# One image for the gateway, the worker and the command line. It lacks the extra `local`: PostgreSQL
# and Redis run elsewhere, and URLs name them.
FROM python:3.13-slim AS build
WORKDIR /build
COPY . .
# The static model's files are the same in each wheel of wordllama, and there is none for ARM.
RUN python -m venv /venv && \
    /venv/bin/pip install --no-cache-dir --constraint constraints.txt --no-deps --only-binary=:all: \
      --platform manylinux2014_x86_64 --python-version 3.13 \
      --target "$(/venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" wordllama && \
    /venv/bin/pip install --no-cache-dir --constraint constraints.txt --only-binary=:all: .

FROM python:3.13-slim
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH NEARHIT_HOST=0.0.0.0 PYTHONUNBUFFERED=1
USER nobody
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8080/readyz', timeout=2)"]
ENTRYPOINT ["nearhit"]
CMD ["serve"]
