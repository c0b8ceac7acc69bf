/** OpenAI's Responses API through clients for Python. */
import t from 'tap'
import { pythonEnvironment } from './python/environment.ts'
import { agent, expectResponses, openai } from './responses-lane.ts'

t.setTimeout(400_000)
const { python, missing } = await pythonEnvironment('agents.txt')

if (missing)
  t.test(
    'the tests of the Responses API are skipped if the Python clients cannot be installed',
    { skip: missing },
    () => {},
  )
else await expectResponses(python, { 'python/with-responses.py': openai, 'python/with-agents.py': agent })
