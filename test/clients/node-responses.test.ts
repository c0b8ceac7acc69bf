/** OpenAI's Responses through clients for Node. */
import t from 'tap'
import { agent, expectResponses, openai } from './responses-lane.ts'
import { installNodeClients } from './setup.ts'

t.setTimeout(400_000)
const missing = await installNodeClients('responses')
/** Clients that keep ids of stored items refer to them unless they are told that nothing is stored. */
const aiSdk = { ...agent, fail: { reference: /store: false/ } }

if (missing) t.test('Responses through clients for Node', { skip: missing }, () => {})
else
  await expectResponses(process.execPath, {
    'responses/openai.mjs': openai,
    'responses/ai-sdk.mjs': aiSdk,
    'responses/agents.mjs': agent,
  })
