/** Python frameworks work with a running server if only its base URL, an API key and the model `auto` are set. */
import t from 'tap'
import { expectClient } from './expect.ts'
import { pythonEnvironment } from './python/environment.ts'
import { startSetup } from './setup.ts'

t.setTimeout(600_000)
const frameworks = {
  'voice.txt': {
    langchain: ['chat', 'chatStream', 'usage', 'agent', 'respond', 'withoutCredential'],
    livekit: [
      ...['chatStream', 'toolCall', 'respond', 'respondToolCall', 'transcribe', 'captions', 'speakSeconds'],
      'withoutCredential',
    ],
    pipecat: ['chatStream', 'transcribe', 'captions', 'speakSeconds', 'withoutCredential'],
  },
  'litellm.txt': {
    litellm: ['chat', 'chatStream', 'toolCall', 'respond', 'transcribe', 'speakWav', 'withoutCredential'],
    'llama-index': ['chat', 'chatStream', 'agent', 'withoutCredential'],
  },
}

const setup = await startSetup(t, ['agent'])
// All environments are made before the first test, because tap closes the file if it waits for other work after its
// last test.
const environments = []
for (const [requirements, programs] of Object.entries(frameworks))
  environments.push({ programs, ...(await pythonEnvironment(requirements)) })
for (const { programs, python, missing } of environments)
  for (const [name, steps] of Object.entries(programs))
    if (missing) t.test(name, { skip: missing }, () => {})
    else
      t.test(name, async (t) => {
        if (steps.includes('captions')) await setup.loadStreamModels()
        expectClient(t, await setup.run(python, [`python/with-${name}.py`]), steps)
      })
