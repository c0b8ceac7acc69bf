/**
 * The code with which a server's first person makes an account. It is derived from the master key, so all processes
 * know it.
 */
import { timingSafeEqual } from 'node:crypto'
import { createSigner } from '../signer.ts'

const lettersOfHalf = 5
/**
 * 32 letters and digits, but no easily confused characters. 256 is divisible by 32, so a random byte gives each of them
 * with the same probability.
 */
const letters = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'

/** Returns a code such as `4KQ7M-2XTPA`. */
export function setupCodeOf(masterKey: string): string {
  const bytes = Buffer.from(createSigner(masterKey, 'console setup code v1').sign('first person'), 'base64url')
  const code = [...bytes.subarray(0, 2 * lettersOfHalf)].map((byte) => letters[byte % letters.length]).join('')
  return `${code.slice(0, lettersOfHalf)}-${code.slice(lettersOfHalf)}`
}

/** Compares the codes in constant time, without regard to spaces, hyphens and case. */
export function isSetupCode(masterKey: string, given: string): boolean {
  const [code, text] = [plain(setupCodeOf(masterKey)), plain(given)].map((each) => Buffer.from(each))
  return code !== undefined && text !== undefined && code.length === text.length && timingSafeEqual(code, text)
}

const plain = (code: string) => code.replace(/[\s-]/g, '').toUpperCase()
