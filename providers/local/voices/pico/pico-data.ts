/** Reads the vendored language data. `data/NOTICE.md` has its origin and licence. */
import { readFile } from 'node:fs/promises'
import { packageFile } from '../../../../runtime/package-file.ts'
import { requireSum } from '../../weights/sum.ts'

/** Each voice has a file that analyses texts, and a file that generates the signal. */
const files = {
  'de-DE': {
    'de-de-ta.bin': 'df292826754713d5efb6c95d60582c17753e95856b4c735c3150db722b2c218a',
    'de-de-sg.bin': '39147b816d08bbbe64b23797804cf691a761ab73a7689ca9e2b6f87ace722654',
  },
  'en-GB': {
    'en-gb-ta.bin': '57998f6423236dea25cd572a73b13f371e64155840e31b571eba7fca0b521b7e',
    'en-gb-sg.bin': '8f9f5d13a920a9f3371517178d42ce89b835f1e587760c2db280beb593c388fa',
  },
  'es-ES': {
    'es-es-ta.bin': 'b18c60baf249466bf8785d333d8cb4cf1f6b62e5545986f621c66568f1851961',
    'es-es-sg.bin': '82e724d3c788767ec95f0d22b0ab738e677ad397f26ec0bbbf2c07aafdf29000',
  },
  'fr-FR': {
    'fr-fr-ta.bin': 'd9da5eb3cd7aac7071ab8ff7fee8d716f58572ee5393c1f0a8db946d6bf32f97',
    'fr-fr-sg.bin': '85e2d63cf9f5522ea2a483d25ddd1cb0c6bfeecc39c92884aecfe7d3f179837a',
  },
  'it-IT': {
    'it-it-ta.bin': '9b243c3470660293691d0d4e000901d7c5d0fa71976b33986e92e93a860ade33',
    'it-it-sg.bin': 'c48be4dc1f5a3c77a3dc4c8a457949b69bc433d674fac4fac91d49c01770e7e4',
  },
} as const

export const picoRateHz = 16000

export type PicoVoiceId = keyof typeof files
export const picoVoiceIds = Object.keys(files) as readonly PicoVoiceId[]

/** The vendored files' folder, from the folder with package.json. */
export const picoDataFolder = 'providers/local/voices/pico/data/'

export type PicoFile = { name: string; bytes: Uint8Array }

/** Reads a voice's files. Rejects if a file is missing or has another checksum. */
export function readPicoVoice(voice: PicoVoiceId): Promise<PicoFile[]> {
  return Promise.all(Object.entries(files[voice]).map(([name, sha256]) => read(name, sha256)))
}

async function read(name: string, sha256: string): Promise<PicoFile> {
  const bytes = await readFile(packageFile(picoDataFolder + name))
  requireSum(`voice file ${name}`, bytes, sha256)
  return { name, bytes }
}
