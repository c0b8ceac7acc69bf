/**
 * Hashes passwords with argon2id (19 MiB, two passes, one lane: the OWASP Password Storage Cheat Sheet), or with scrypt
 * on a machine whose binary for argon2 does not load. Both give PHC strings. Few hashes run at once, because they use
 * the threads that also read files and look up names. The hashes are divided among IP addresses, because the
 * organization is not known before the password is checked.
 */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { Refusal } from '../engine/handler.ts'
import { loadArgon2 } from '../optional.ts'
import type { WorkQueue } from '../shares/work-queue.ts'

const memoryKiB = 19_456
const passes = 2
const scryptLogN = 17
const scryptBytesMax = 256 * 1024 * 1024
const hashBytes = 32
const saltBytes = 16

/** `hash` and `verify` throw Refusal `overloaded` if too many hashes wait, for the IP address `source` or in total. */
export type PasswordHasher = {
  hash(password: string, source: string): Promise<string>
  hashUnlessBusy(password: string, source: string): Promise<string | null>
  verify(stored: string, password: string, source: string): Promise<boolean>
  isOutdated(stored: string): Promise<boolean>
  dummy(): Promise<string>
}

/** The binary is loaded at the first use. `load` resolves with null on a machine without it. */
export function createPasswordHasher(queue: WorkQueue, load = loadArgon2): PasswordHasher {
  let loading: ReturnType<typeof loadArgon2> | null = null
  const loaded = () => (loading ??= load())
  async function hash(password: string): Promise<string> {
    const argon2 = await loaded()
    if (argon2 === null) return scryptHash(password)
    return argon2.hash(password, { memoryCost: memoryKiB, timeCost: passes, parallelism: 1 })
  }
  async function verify(stored: string, password: string): Promise<boolean> {
    if (stored.startsWith('$scrypt$')) return scryptVerify(stored, password)
    const argon2 = await loaded()
    if (argon2 === null) throw new Error('a stored password needs argon2, whose binary does not load here')
    return argon2.verify(stored, password)
  }
  let dummy: Promise<string> | null = null
  return {
    hash: (password, source) => inTurn(queue, source, () => hash(password)),
    hashUnlessBusy: async (password, source) => queue.run(source, () => hash(password)),
    verify: (stored, password, source) => inTurn(queue, source, () => verify(stored, password)),
    isOutdated: async (stored) => (stored.startsWith('$scrypt$') ? (await loaded()) !== null : isWeaker(stored)),
    // A process makes this hash once, so it does not wait in the queue, where it could be refused.
    dummy: () => (dummy ??= hash(randomBytes(saltBytes).toString('hex'))),
  }
}

async function inTurn<Result>(queue: WorkQueue, source: string, work: () => Promise<Result>): Promise<Result> {
  const turn = queue.run(source, work)
  if (turn === null) throw new Refusal('overloaded', { message: 'Too many people sign in at once.', retryAfterS: 1 })
  return turn
}

function isWeaker(stored: string): boolean {
  const [, memory, time] = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=\d+\$/.exec(stored) ?? []
  return Number(memory ?? 0) < memoryKiB || Number(time ?? 0) < passes
}

async function scryptHash(password: string): Promise<string> {
  const salt = randomBytes(saltBytes)
  const digest = await derive(password, salt, scryptLogN)
  return `$scrypt$ln=${scryptLogN},r=8,p=1$${unpadded(salt)}$${unpadded(digest)}`
}

async function scryptVerify(stored: string, password: string): Promise<boolean> {
  const [, logN, salt, digest] = /^\$scrypt\$ln=(\d+),r=8,p=1\$([\w+/]+)\$([\w+/]+)$/.exec(stored) ?? []
  if (logN === undefined || salt === undefined || digest === undefined) return false
  const expected = Buffer.from(digest, 'base64')
  const given = await derive(password, Buffer.from(salt, 'base64'), Number(logN))
  return expected.length === given.length && timingSafeEqual(expected, given)
}

function derive(password: string, salt: Buffer, logN: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = { N: 2 ** logN, r: 8, p: 1, maxmem: scryptBytesMax }
    scrypt(password, salt, hashBytes, options, (error, key) => (error ? reject(error) : resolve(key)))
  })
}

const unpadded = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
