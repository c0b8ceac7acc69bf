/**
 * Secrets at rest (envelope encryption). Each secret is encrypted with its data key, and the data key with a key
 * derived from the master key. For a new master key only the data keys are encrypted again, and no secret is decrypted.
 *
 *   1 byte        the format
 *   12 + 32 + 16  nonce, data key, tag: AES-256-GCM with the key derived from the master key
 *   12 + n + 16   nonce, secret, tag: AES-256-GCM with the data key
 *
 * The additional data binds the data key and the secret to their row: if a row is copied to another organization,
 * provider or version, it cannot be decrypted.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { SealError } from '../../domain/access/seal-error.ts'

export type MasterKeys = {
  current: string
  /** Earlier master keys, newest first. They still open older secrets. */
  previous: readonly string[]
}

export type Sealed = {
  bytes: Buffer
  /** Names the master key that sealed the secret, and reveals nothing about it. */
  sealedBy: string
}

export type Sealer = {
  /** The names of this process's master keys, the current key first. */
  names: readonly string[]
  seal(secret: string, place: readonly string[]): Sealed
  /** Opens a sealed secret. Throws SealError if it does not open. */
  open(sealed: Sealed, place: readonly string[]): string
  /** Seals the secret again under the current master key. Throws SealError. */
  reseal(sealed: Sealed, place: readonly string[]): Sealed
}

const format = 1
const nonceBytes = 12
const keyBytes = 32
const tagBytes = 16
const wrappedBytes = nonceBytes + keyBytes + tagBytes
const algorithm = 'aes-256-gcm'

export function createSealer({ current, previous }: MasterKeys): Sealer {
  const keys = new Map([current, ...previous].map((masterKey) => [nameOf(masterKey), derive(masterKey)]))
  const sealedBy = nameOf(current)
  const currentKey = derive(current)

  function unwrap({ bytes, sealedBy }: Sealed, bound: Buffer): Buffer {
    const key = keys.get(sealedBy)
    if (!key)
      throw new SealError(
        `It was sealed with another master key (${sealedBy}): set PARLEY_MASTER_KEY to that key, or name it in PARLEY_PREVIOUS_MASTER_KEYS.`,
      )
    if (bytes[0] !== format) throw new SealError('It was sealed by a newer version: run that version.')
    return decrypt(key, bytes.subarray(1, 1 + wrappedBytes), bound)
  }

  return {
    names: [...keys.keys()],
    seal(secret, place) {
      const bound = boundTo(place)
      const dataKey = randomBytes(keyBytes)
      const parts = [encrypt(currentKey, dataKey, bound), encrypt(dataKey, Buffer.from(secret), bound)]
      return { bytes: Buffer.concat([Buffer.of(format), ...parts]), sealedBy }
    },
    open(sealed, place) {
      const bound = boundTo(place)
      return decrypt(unwrap(sealed, bound), sealed.bytes.subarray(1 + wrappedBytes), bound).toString()
    },
    reseal(sealed, place) {
      const bound = boundTo(place)
      const wrapped = encrypt(currentKey, unwrap(sealed, bound), bound)
      const bytes = Buffer.concat([Buffer.of(format), wrapped, sealed.bytes.subarray(1 + wrappedBytes)])
      return { bytes, sealedBy }
    },
  }
}

/**
 * Derives a key from the master key (RFC 5869). The derived key encrypts data keys. If it leaks, it reveals nothing
 * about the master key or another derived key.
 */
function derive(masterKey: string): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, '', 'sealed secrets v1', keyBytes))
}

function nameOf(masterKey: string): string {
  return Buffer.from(hkdfSync('sha256', masterKey, '', 'name of a master key v1', 8)).toString('hex')
}

/**
 * Turns the strings that identify a row into additional data for AES-GCM. Each part begins with its length, so two rows
 * never give the same bytes.
 */
function boundTo(place: readonly string[]): Buffer {
  return Buffer.from(place.map((part) => `${part.length}:${part}`).join(''))
}

function encrypt(key: Buffer, plain: Buffer, bound: Buffer): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(bound)
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

function decrypt(key: Buffer, sealed: Buffer, bound: Buffer): Buffer {
  try {
    const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
    decipher.setAAD(bound).setAuthTag(sealed.subarray(-tagBytes))
    return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()])
  } catch (cause) {
    throw new SealError('It does not open here: the row was changed, or belongs elsewhere.', cause)
  }
}
