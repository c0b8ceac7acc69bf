/** The rules for passwords, and the port for their hashes. */
import { refuseIssues } from '../../records/resource-fault.ts'

/**
 * Hashes passwords. A hash is a PHC string, whose prefix names the algorithm and its parameters. `source` is the
 * browser's IP address. Addresses take turns, so the hashes for one busy address do not delay other addresses.
 */
export type PasswordHashes = {
  hash(password: string, source: string): Promise<string>
  /** Like `hash`, but resolves with null if too many hashes wait. */
  hashUnlessBusy(password: string, source: string): Promise<string | null>
  verify(stored: string, password: string, source: string): Promise<boolean>
  /** Returns true if a new hash would have stronger parameters. */
  isOutdated(stored: string): Promise<boolean>
  /** Returns the hash for a random password with the current parameters. */
  dummy(): Promise<string>
}

/** A longer password is wrong, and is not hashed. */
const passwordBytesMax = 1024

/** Returns the password in Unicode's form NFC, or null if it is too long. */
export function spelled(password: string): string | null {
  const text = password.normalize('NFC')
  return Buffer.byteLength(text) > passwordBytesMax ? null : text
}

/**
 * Checks a new password and returns the text to hash. The contract checks its length: 15 characters or more. So few
 * common passwords are left to refuse: repeated pieces, runs of neighbouring characters, joined common words, and the
 * person's e-mail address. Throws ResourceFault `invalid`.
 */
export function checkedPassword(password: string, email: string): string {
  const text = spelled(password)
  const isRefused = text === null || isCommon(text.toLowerCase()) || holdsAddress(text.toLowerCase(), email)
  refuseIssues(isRefused ? [{ path: ['password'], problem: { kind: 'password_common' } }] : [])
  return text ?? ''
}

function isCommon(text: string): boolean {
  return repeatsPiece(text) || isRun(text) || commonWords.test(text)
}

/** The longest piece whose repetition is refused, such as `correct-` in `correct-correct-`. */
const pieceCharactersMax = 8

function repeatsPiece(text: string): boolean {
  for (let size = 1; size <= pieceCharactersMax; size += 1)
    if (
      text ===
      text
        .slice(0, size)
        .repeat(Math.ceil(text.length / size))
        .slice(0, text.length)
    )
      return true
  return false
}

const rows = [
  'abcdefghijklmnopqrstuvwxyz',
  '12345678901234567890',
  'qwertyuiopasdfghjklzxcvbnm',
  '1qaz2wsx3edc4rfv5tgb6yhn',
]

/** Returns true if the text only follows one keyboard row or the alphabet, in either direction. */
function isRun(text: string): boolean {
  return rows.some((row) => [row, [...row].reverse().join('')].some((each) => each.repeat(text.length).includes(text)))
}

/** Parts of common passwords. A password is refused if it has only these parts and digits. */
const commonWords =
  /^(?:password|passwort|passwd|pass|qwerty|qwertz|azerty|asdf|zxcv|letmein|welcome|admin|administrator|login|master|secret|iloveyou|monkey|dragon|sunshine|princess|football|baseball|superman|batman|trustno1|abc|parley|changeme|default|root|test|user|guest|hello|p@ssw0rd|passw0rd|[\d\s._!@#$-])+$/

function holdsAddress(text: string, email: string): boolean {
  const address = email.toLowerCase()
  return text.includes(address) || address.includes(text)
}
