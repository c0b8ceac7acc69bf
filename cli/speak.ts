import { writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { RouterClient } from '../generated/clients/typescript/router.ts'
import type { Actions } from './actions.ts'
import { pinnedTo, routerClient } from './client.ts'
import { UsageError } from './command-error.ts'
import { requirePlace } from './file-option.ts'
import { decimalNumber } from './number-option.ts'
import { print } from './print.ts'
import { withProgress } from './progress.ts'
import { pipe, textOf } from './stdin.ts'
import { wavHeaderBytes, wavOf } from './wav.ts'

type Options = { json: boolean; out: string; voice?: string; model?: string; language?: string; speed?: number }

const sampleRateHz = 24000

export function speak(program: Command, actions: Actions): void {
  program
    .command('speak')
    .description('text to speech, saved as WAV')
    .argument('<text>', 'the text, or - for standard input')
    .option('-o, --out <file>', 'where the WAV goes; - is standard output', 'speech.wav')
    .option('--voice <id>', 'a voice that `models --json` lists')
    .option('--model <pin>', 'provider/model; left out, the router chooses')
    .option('--language <tag>', 'language of the text, as a BCP 47 tag')
    .option('--speed <factor>', '0.25 to 4', decimalNumber('--speed', 0.25, 4))
    .option('--json', 'print what was made as JSON', false)
    .action(async (text: string, { json, out, voice, model, language, speed }: Options) => {
      const more = {
        ...(voice && { voice }),
        ...(language && { language }),
        ...(speed && { speed }),
        ...pinnedTo(model),
      }
      if (out !== pipe) requireWavPlace(out)
      const client = routerClient(await actions.connection())
      const input = await textOf(text)
      const wav = await withProgress('speaking', () => speechWav(client, input, more))
      if (out === pipe) return writeToStdout(wav)
      writeFileSync(out, wav)
      const durationMs = wavDurationMs(wav)
      const made = { file: out, durationMs, sampleRateHz, bytes: wav.length }
      print(json, made, () => [`${out}: ${(durationMs / 1000).toFixed(1)} s`])
    })
}

/** Throws if the file cannot be written, before any speech is synthesized and billed. */
function requireWavPlace(file: string): void {
  if (!/\.wave?$/i.test(file))
    throw new UsageError(`--out: ${file} would be a WAV file; give it a name that ends in .wav`)
  requirePlace('--out', file)
}

/**
 * Writes to standard output. Resolves when all is written, because a pipe may accept only a part of the audio at a
 * time.
 */
function writeToStdout(bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()))
  })
}

/** Speaks the text. Resolves with a WAV file, 24 kHz mono. */
export async function speechWav(client: RouterClient, text: string, more: object = {}): Promise<Buffer> {
  const answer = await client.createSpeech({ body: { input: text, audio: { sample_rate_hz: sampleRateHz }, ...more } })
  const chunks: Uint8Array[] = []
  for await (const chunk of answer.body) chunks.push(chunk)
  return wavOf(Buffer.concat(chunks), sampleRateHz)
}

/** Returns the duration of a file from `speechWav`. */
export function wavDurationMs(wav: Buffer): number {
  return Math.round((wav.length - wavHeaderBytes) / 2 / (sampleRateHz / 1000))
}
