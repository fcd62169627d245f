#!/bin/sh
# Makes the certificates of the webhook tests: an authority, and what it signed. They guard nothing, and are valid
# from 2020 to 2120 so that no clock makes a test fail.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/index"
cat >"$work/config" <<END
[ca]
default_ca = here
[here]
new_certs_dir = $work
database = $work/index
rand_serial = yes
default_md = sha256
policy = any
copy_extensions = copy
unique_subject = no
[any]
commonName = supplied
[req]
distinguished_name = name
[name]
[authority]
basicConstraints = critical, CA:true
keyUsage = critical, keyCertSign
END
request() {
  openssl req -config "$work/config" -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
    -subj "/CN=$1" -keyout "$2" -out "$work/csr" $3
}
sign() {
  openssl ca -config "$work/config" -batch -notext -in "$work/csr" -startdate "$1" -enddate "$2" $4 -out "$3"
}
request 'Webhook test authority' "$work/authority.key" ''
sign 20200101000000Z 21200101000000Z authority.pem "-selfsign -keyfile $work/authority.key -extensions authority"
by="-cert authority.pem -keyfile $work/authority.key"
request hooks.example.com good.key '-addext subjectAltName=DNS:hooks.example.com'
sign 20200101000000Z 21200101000000Z good.pem "$by"
request other.example.com other.key '-addext subjectAltName=DNS:other.example.com'
sign 20200101000000Z 21200101000000Z other.pem "$by"
request hooks.example.com expired.key '-addext subjectAltName=DNS:hooks.example.com'
sign 20200101000000Z 20210101000000Z expired.pem "$by"
