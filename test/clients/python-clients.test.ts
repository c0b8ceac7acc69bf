/** The official Python client against a running server, in a virtual environment that git ignores. */
import { statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { expectClient } from './expect.ts'
import { here, install, startSetup } from './setup.ts'

const environment = path.join(here, '../../.cache/clients-venv')
const python = path.join(environment, 'bin/python')
/** Newer than the requirements once they are installed. */
const complete = path.join(environment, 'complete')
const modifiedMs = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0

async function prepare(): Promise<string | null> {
  if (modifiedMs(complete) > modifiedMs(path.join(here, 'requirements.txt'))) return null
  const missing =
    (await install('python3', ['-m', 'venv', '--clear', environment])) ??
    (await install(python, ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', '-r', 'requirements.txt']))
  if (missing === null) await writeFile(complete, '')
  return missing
}

const missing = await prepare()

if (missing) t.test('clients for Python', { skip: missing }, () => {})
else {
  const setup = await startSetup()
  t.teardown(() => setup.close())
  t.test('openai', async (t) =>
    expectClient(t, await setup.run(python, ['client.py']), [
      ...['chat', 'chatStream', 'usage', 'tools', 'transcribe', 'transcribeText', 'transcribeVerbose'],
      ...['speakPcm', 'speakWav', 'speakMp3', 'models', 'cutStream', 'resetStream', 'wrongKey'],
    ]),
  )
}
