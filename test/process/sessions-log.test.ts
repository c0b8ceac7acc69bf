/** A session's content never reaches the log, even at the most detailed level. */
import t from 'tap'
import { call, loopbackProviders, Page, startSession } from '../session/voice-session.ts'
import { startParley } from './parley.ts'

const secret = (name: string) => `quokka-${name}`

t.test('prompts, transcripts, variables, results and tokens are not logged', async (t) => {
  const parley = await startParley({ PARLEY_PROVIDERS: loopbackProviders, PARLEY_LOG_LEVEL: 'debug' })
  t.teardown(() => parley.remove())
  const wanted = {
    systemPrompt: `${secret('prompt')} {{ who }}`,
    firstMessage: secret('first'),
    variables: { who: secret('variable') },
    metadata: { note: secret('metadata') },
  }
  const started = await startSession(parley, wanted)
  const page = new Page(started)
  await page.first('ready')
  await page.ask(secret('words'))
  page.send({ type: 'contextual_update', text: secret('note') })
  page.send({ type: 'dtmf', digits: '987654321#' })
  page.send({ type: 'tool_result', id: 'x', result: secret('result') })
  page.send({ type: 'user_message', text: secret('last') })
  page.send({ type: 'end' })
  await page.first('end')
  const refusedPage = await Page.join(parley)
  refusedPage.send({ type: 'user_message', text: secret('refused'), [secret('field')]: 1 })
  await refusedPage.first('error')
  t.equal((await call(parley, '/v1/sessions', { intent: { language: 'en' }, [secret('unknown')]: 1 })).status, 400)
  t.equal((await call(parley, '/v1/sessions', { ...wanted, systemPrompt: `{{ ${secret('broken')} %}` })).status, 400)
  await call(parley, `/v1/calls/${page.id}/report/finalize`, { forceAnalysis: true })
  await parley.stop()
  const log = parley.output()
  t.match(log, /"level":30/, 'there is a log')
  t.notMatch(log, /quokka/)
  t.notMatch(log, /987654321/)
  t.notOk(log.includes(started.transportToken), 'no token')
})
