/** A few recorded prompts in the repository, so that tests without a network have real speech. */
import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { opusPackets } from '../../audio/ogg-packets.ts'

/** The words spoken in test/fixtures/speech/<name>.wav (8 kHz, mono, s16le). */
export const spoken = {
  'cannot-complete-as-dialed': 'Your call cannot be completed as dialed.',
  'conf-noempty': 'No empty conferences currently exist.',
  'conf-waitforleader': 'The conference will begin when the leader arrives.',
  'please-try-call-later': 'Please try your call again later.',
  'privacy-prompt': 'Please enter your phone number, starting with the area code.',
  'tt-weasels': 'Weasels have eaten our phone system.',
} as const

export type FixtureName = keyof typeof spoken
type Extension = 'wav' | 'flac' | 'mp3' | 'opus' | 'webm'

/**
 * Reads a recording. Only `privacy-prompt` exists in the other encodings too, and `please-try-call-later-video` as a
 * film's sound.
 */
export function readFixture(name: FixtureName | `${FixtureName}-video`, extension: Extension = 'wav'): Uint8Array {
  return readFileSync(new URL(`../fixtures/speech/${name}.${extension}`, import.meta.url))
}

/** Returns the Opus packets in `privacy-prompt`, 20 ms each. */
export async function packetsOf(name: 'privacy-prompt'): Promise<Buffer[]> {
  const packets: Buffer[] = []
  for await (const packet of opusPackets(Readable.from([readFixture(name, 'opus')]))) packets.push(Buffer.from(packet))
  return packets
}
