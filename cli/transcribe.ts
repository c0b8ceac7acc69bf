import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { Actions } from './actions.ts'
import { pinnedTo, routerClient } from './client.ts'
import { CommandError } from './command-error.ts'
import { print } from './print.ts'
import { withProgress } from './progress.ts'
import { pipe, readStdin } from './stdin.ts'

type Options = { language?: string; model?: string; json: boolean }

export function transcribe(program: Command, actions: Actions): void {
  program
    .command('transcribe')
    .description('speech to text: WAV, FLAC, Ogg/Opus, WebM/Opus or MP3')
    .argument('<file>', 'a recording, or - for standard input')
    .option('--language <tag>', 'what is spoken, as a BCP 47 tag')
    .option('--model <pin>', 'provider/model; left out, the router chooses')
    .option('--json', 'print the answer as it came', false)
    .action(async (file: string, { language, model, json }: Options) => {
      const request = { ...(language && { language }), ...pinnedTo(model) }
      const body = { request, audio: file === pipe ? new Uint8Array(await readStdin()) : readAudio(file) }
      const client = routerClient(await actions.connection())
      const answer = await withProgress('transcribing', () => client.createTranscription({ body }))
      print(json, answer.body, () => [answer.body.text])
    })
}

function readAudio(file: string): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(readFileSync(file))
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException
    throw new CommandError(whyUnread[code] ? `${file}: ${whyUnread[code]}` : `${file} cannot be read (${code})`)
  }
}

const whyUnread: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file; name a recording (WAV, FLAC, Ogg/Opus, WebM/Opus or MP3)',
  EISDIR: 'is a folder; name a recording in it',
  EACCES: 'this user may not read it',
}
