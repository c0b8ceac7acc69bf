/** OpenAI's Responses API through clients for Node. */
import t from 'tap'
import { agent, expectResponses, openai } from './responses-lane.ts'
import { installNodeClients } from './setup.ts'

t.setTimeout(400_000)
const missing = await installNodeClients('responses')
/**
 * The AI SDK sends earlier items by their ids, unless the request has store: false. The server stores no items, so it
 * refuses such a reference.
 */
const aiSdk = { ...agent, fail: { reference: /store: false/ } }

if (missing)
  t.test(
    'the tests of the Responses API are skipped if the Node clients cannot be installed',
    { skip: missing },
    () => {},
  )
else
  await expectResponses(process.execPath, {
    'responses/openai.mjs': openai,
    'responses/ai-sdk.mjs': aiSdk,
    'responses/agents.mjs': agent,
  })
