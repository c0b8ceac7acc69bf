/** The commands for callbacks. */
import t, { type Test } from 'tap'
import { callbackOf, hourMs, promised } from '../callbacks/callback.ts'
import { newCall } from '../calls/call.ts'

import { runCommand } from '../command.ts'
import { startAdministered } from './administered.ts'
import { refused } from './refused.ts'

const { parley, admin } = await startAdministered(t)

t.test('`callbacks list` lists the scheduled callbacks, and `callbacks cancel` cancels a callback', async (t) => {
  const acme = await admin.organization('with callbacks')
  const env = { PARLEY_API_KEY: acme.key, PARLEY_URL: parley.url }
  const command = (...args: string[]) => runCommand(parley, ['callbacks', ...args], env)
  const outputOf = async (test: Test, ...args: string[]) => {
    const { code, stdout, stderr } = await command(...args)
    test.equal(code, 0, stderr)
    return stdout.trimEnd()
  }
  t.equal(await outputOf(t, 'list'), 'no callbacks')
  const made: { id: string; session: string }[] = []
  for (const reason of ['prices', 'a\u001b[2Jb']) {
    const call = newCall(acme.id)
    await admin.store.calls.insert(call, {})
    const callback = callbackOf(call, { reason, nextTryAtMs: Date.now() + hourMs })
    await admin.store.calls.append(call, call.id, [promised(callback)])
    made.push({ id: callback.id, session: call.id })
  }
  const [first, second] = made as [{ id: string; session: string }, { id: string; session: string }]
  const all = await outputOf(t, 'list')
  t.match(all, new RegExp(`^ {2}${first.id} .*\\+4915123456789 +scheduled +– +prices`, 'm'))
  t.notMatch(all, '\u001b', 'a terminal obeys no words of a caller')
  t.notMatch(await outputOf(t, 'list', '--session', second.session), first.id)
  const page = await outputOf(t, 'list', '--limit', '1')
  const cursor = /^more: --cursor (\S+)$/m.exec(page)?.[1] ?? ''
  t.match(await outputOf(t, 'list', '--limit', '1', '--cursor', cursor), first.id)
  t.equal(await outputOf(t, 'cancel', first.id, '--reason', 'answered'), `${first.id} is cancelled`)
  const { data: callbacks } = JSON.parse(await outputOf(t, 'list', '--status', 'cancelled', '--json')) as {
    data: object[]
  }
  t.match(callbacks, [{ id: first.id, status: 'cancelled' }])
  refused(t, await command('cancel', first.id), /CALLBACK_NOT_SCHEDULED/)
  refused(t, await command('cancel', 'callback_0123456789012345678901'), /NOT_FOUND/)
  refused(t, await command('list', '--status', 'gone'), /VALIDATION_ERROR: status must be one of /)
})
