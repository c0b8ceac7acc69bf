/**
 * Implements ITU-T G.711 like ITU-T G.191's reference code. Samples are 16-bit linear, and their lowest bits are
 * ignored (mu-law reads 14 bits, A-law 13, each with the sign). Both directions are tables, so a sample costs one
 * lookup.
 */

/** The decoding table. Index: the code byte. Value: the 16-bit linear sample. */
export const mulawToLinear: Int16Array = Int16Array.from({ length: 256 }, (_, code) => expandMulaw(code))
export const alawToLinear: Int16Array = Int16Array.from({ length: 256 }, (_, code) => expandAlaw(code))

const mulawCodes = Uint8Array.from({ length: 16384 }, (_, i) => compressMulaw((i - 8192) << 2))
const alawCodes = Uint8Array.from({ length: 4096 }, (_, i) => compressAlaw((i - 2048) << 4))

/** Encodes `sample`, which is a 16-bit linear integer. */
export function linearToMulaw(sample: number): number {
  return mulawCodes[(sample >> 2) + 8192]!
}

export function linearToAlaw(sample: number): number {
  return alawCodes[(sample >> 4) + 2048]!
}

function compressMulaw(sample: number): number {
  const magnitude = Math.min((sample < 0 ? ~sample >> 2 : sample >> 2) + 33, 0x1fff)
  const segment = 32 - Math.clz32(magnitude >> 6) + 1
  const code = ((8 - segment) << 4) | (0xf - ((magnitude >> segment) & 0xf))
  return sample < 0 ? code : code | 0x80
}

function expandMulaw(code: number): number {
  const exponent = (~code >> 4) & 7
  const step = 4 << (exponent + 1)
  const magnitude = (0x80 << exponent) + step * (~code & 0xf) + step / 2 - 4 * 33
  return code < 0x80 ? -magnitude : magnitude
}

function compressAlaw(sample: number): number {
  let magnitude = sample < 0 ? ~sample >> 4 : sample >> 4
  if (magnitude > 15) {
    const exponent = 32 - Math.clz32(magnitude >> 4)
    magnitude = (magnitude >> (exponent - 1)) - 16 + (exponent << 4)
  }
  // A-law inverts every other bit, so silence is not a run of zeros on the line.
  return (sample < 0 ? magnitude : magnitude | 0x80) ^ 0x55
}

function expandAlaw(code: number): number {
  const bits = (code ^ 0x55) & 0x7f
  const exponent = bits >> 4
  const mantissa = ((bits & 0xf) + (exponent > 0 ? 16 : 0)) * 16 + 8
  const magnitude = exponent > 1 ? mantissa << (exponent - 1) : mantissa
  return code & 0x80 ? magnitude : -magnitude
}
