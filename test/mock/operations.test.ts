/** The generated client calls every operation of the mock server with the examples of the contract. */
import t from 'tap'
import { readAll } from './read.ts'
import { callOf, serve } from './setup.ts'

const { surfaces } = await serve(t)

for (const { name, contract, client } of surfaces)
  t.test(`the mock server answers each request example of the ${name} API`, async (t) => {
    t.same([...contract.operations.keys()].sort(), Object.keys(client).sort(), 'the client has every operation')
    for (const [id, operation] of contract.operations) {
      const requests = Object.entries(operation.requests)
      for (const [example, { value }] of requests.length > 0
        ? requests
        : ([['without a body', { value: undefined }]] as const)) {
        const { status, body } = await client[id]!(callOf(operation, value))
        t.ok(contract.answers.has(`${id} ${status}`), `${id} ${example}: ${status}`)
        await readAll(body)
      }
    }
  })
