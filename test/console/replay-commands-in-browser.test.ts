/** Runs a replay's curl lines in a shell, and tests that lines quote each value from a URL. */
import { execFile } from 'node:child_process'
import { statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import type { ModelsResponse } from '../../generated/clients/typescript/models/router.ts'
import type { Browser } from '../browser/chromium.ts'
import { inBrowser } from '../browser/visiting.ts'
import { readFixture } from '../speech/fixtures.ts'
import { askApi, openShop } from './shop.ts'
import { storeCall } from './stored-calls.ts'

/** The agent's first answer. */
const turn = 2
const cliButton = '[aria-label="The same by a program"] button:has-text("parley")'

await inBrowser(t, 'the lines of a replay in the console', tests)

async function tests(browser: Browser): Promise<void> {
  const shop = await openShop(t, browser)
  const id = await storeCall(shop, 4)
  const { models } = await askApi<ModelsResponse>(shop, '/router/v1/models?language=en&path=batch')
  const pinOf = (kind: string) => models.find((model) => model.kind === kind)?.pin ?? ''

  t.test('the server answers the curl line of each stage', async (t) => {
    const { page, open } = await shop.visit(t)
    const folder = t.testdir()
    writeFileSync(path.join(folder, 'turn.wav'), readFixture('privacy-prompt'))
    for (const stage of ['stt', 'llm', 'tts']) {
      await open(`/calls/${id}?turn=${turn}&replay=${stage}&with=${pinOf(stage)}`, `pre:has-text("${pinOf(stage)}")`)
      const line = (await page.textContent('pre')) ?? ''
      t.equal(await statusOf(line, folder, shop.key), '200', line)
    }
    t.ok(statSync(path.join(folder, 'answer.bin')).size > 24_000, 'curl writes the speech to a file')
  })

  t.test('a line quotes the values of an address, so a shell runs no command in a value', async (t) => {
    const { page, open } = await shop.visit(t)
    const command = '$(touch ran)'
    const replay = `/calls/${id}?turn=${turn}&with=x/${command};${command}&replay=`
    for (const [address, quoted] of [
      [`${replay}stt`, `--with 'stt=x/${command}'`],
      [`${replay}llm`, `--with 'llm=x/${command}'`],
      [`${replay}tts`, `--model 'x/${command}' --voice '${command}'`],
      [`/routing?language=${command}`, `--language '${command}'`],
      [`/usage?from=${command}`, `--from '${command}'`],
      [`/numbers/buy?areaCode=${command}`, `--area '${command}'`],
    ] as const) {
      await open(address, cliButton)
      await page.click(cliButton)
      const line = await page.textContent('pre')
      t.ok(line?.includes(quoted), `${line} has ${quoted}`)
    }
  })
}

/** Runs a curl line in a shell, and returns the answer's HTTP status. */
async function statusOf(line: string, folder: string, key: string): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-c', `${line} -s -w '\n%{http_code}'`], {
    cwd: folder,
    env: { ...process.env, PARLEY_KEY: key },
  })
  return stdout.split('\n').at(-1) ?? ''
}
