/** Downloads a call as one file from its page in the console, and tests who may download and play a recording. */
import { readFileSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { readTar } from '../../cli/tar.ts'
import type { Browser } from '../browser/chromium.ts'
import { inBrowser, patience } from '../browser/visiting.ts'
import { openShop, refuse } from './shop.ts'
import { storeCall, storeLiveCall } from './stored-calls.ts'

await inBrowser(t, 'the bundle of a call in the console', tests)

async function tests(browser: Browser): Promise<void> {
  const shop = await openShop(t, browser)
  const id = await storeCall(shop, 4)

  t.test('a person downloads the bundle of a call that is over', async (t) => {
    const { page, open } = await shop.visit(t)
    await open(`/calls/${id}`, '[data-turn]')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.click('[aria-label="Download the bundle"]'),
    ])
    t.equal(download.suggestedFilename(), `call-${id}.tar`)
    const files = readTar(readFileSync(await download.path()))
    t.match(JSON.parse(files.get('call.json')?.toString() ?? ''), { id })
    t.ok(files.has('recording.wav'))
    await open(`/calls/${await storeLiveCall(shop, 1)}`, '[data-turn]')
    t.notOk(await page.isVisible('[aria-label="Download the bundle"]'))
  })

  t.test('a viewer reads which role recordings need, and gets no link that the server would refuse', async (t) => {
    const { page, open, check, refused } = await shop.visit(t, { role: 'viewer' })
    await open(`/calls/${id}`, '[data-turn]')
    await page.waitForSelector('text=Listening to recordings and downloading them needs the role member.', patience)
    for (const selector of ['a:has-text("Audio")', '[aria-label="Download the bundle"]', '[aria-label="Play"]:enabled'])
      t.equal(await page.isVisible(selector), false, selector)
    await check('call-viewer')
    t.same(refused, [])
    const member = await shop.visit(t, { role: 'member' })
    await member.open(`/calls/${id}`, '[aria-label="Play"]:enabled')
    t.equal(await member.page.isVisible('a:has-text("Audio")'), true)
    t.notMatch(await member.text(), /needs the role/)
  })

  t.test('the player says why a recording cannot be played, and the page has no link to the recording', async (t) => {
    const lost = await storeCall(shop, 2)
    rmSync(path.join(shop.dataDir, 'recordings', `${lost}.wav`))
    const { page, faults, open, check } = await shop.visit(t, { role: 'member' })
    await open(`/calls/${lost}`, '[aria-label="Player"] [role="status"]:has-text("The recording cannot be played.")')
    for (const selector of ['a:has-text("Audio")', '[aria-label="Play"]:enabled'])
      t.equal(await page.isVisible(selector), false, selector)
    await check('call-lost-recording')
    // A person who became a viewer meanwhile still has a page of a member.
    await refuse(page, /recording\/audio/, 403, 'FORBIDDEN')
    await open(
      `/calls/${id}`,
      '[aria-label="Player"] [role="status"]:has-text("The server refused this with FORBIDDEN.")',
    )
    t.same(faults, [])
  })

  t.test('a recording that was lost for a while is played again, and the page has its link again', async (t) => {
    const away = await storeCall(shop, 2)
    const file = path.join(shop.dataDir, 'recordings', `${away}.wav`)
    renameSync(file, `${file}.away`)
    const { page, open } = await shop.visit(t, { role: 'member' })
    const fault = '[aria-label="Player"] [role="status"]:has-text("The recording cannot be played.")'
    const audio = 'a:has-text("Audio")'
    await open(`/calls/${away}`, fault)
    // The text of the fault is shown before the click, too, so the test waits for the answer to the new request.
    await Promise.all([page.waitForResponse(/recording\/audio/, patience), page.click('button:has-text("Try again")')])
    await page.waitForSelector(fault, patience)
    renameSync(`${file}.away`, file)
    await page.click('button:has-text("Try again")')
    await page.waitForSelector('[aria-label="Play"]:enabled', patience)
    await page.waitForSelector(audio, patience)
    t.equal(await page.isVisible('button:has-text("Try again")'), false)
    renameSync(file, `${file}.away`)
    await open(`/calls/${away}`, fault)
    await page.click('nav a[href$="/calls"]')
    await page.waitForSelector('h1:has-text("Calls")', patience)
    renameSync(`${file}.away`, file)
    await page.goBack()
    await page.waitForSelector('[aria-label="Play"]:enabled', patience)
    await page.waitForSelector(audio, patience)
  })
}
