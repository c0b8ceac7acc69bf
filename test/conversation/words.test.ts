/** Words show whether a caller only listens (a backchannel), and whether a turn looks finished. */
import t from 'tap'
import { isBackchannel } from '../../domain/conversation/words/backchannel.ts'
import { languages, wordsOfLanguage } from '../../domain/conversation/words/languages/languages.ts'
import { looksFinished } from '../../domain/conversation/words/turn-end.ts'
import { processorMs } from '../processor-time.ts'

t.test('words that show that a caller only listens, such as "I see", are a backchannel', (t) => {
  const backchannels: [language: string, ...texts: string[]][] = [
    ['en', 'Mhm.', 'Mm-hmm', 'mmmmm', 'Uh-huh.', 'Yeah, yeah.', 'OK', 'I see.', 'All right.', 'Okay, got it!'],
    ['en-GB', 'Right.'],
    ['de-AT', 'Ja, genau.', 'Ach so', 'Mhm, alles klar'],
    ['es', 'Sí, claro.', 'Ajá', 'vale vale'],
    ['fr', 'Oui, oui.', "D'accord", 'Bien sûr.'],
    ['it', 'Sì, certo', 'Ho capito.'],
    ['pt-BR', 'Tá bom', 'Uhum'],
    ['nl', 'Ja, precies.', 'Oké'],
    ['ru', 'Ага, понятно.', 'Ну да'],
    ['ja', 'はい。', 'うんうん', 'なるほど、そうですか。'],
    ['zh', '嗯。', '好的，明白了。', '对对对'],
    ['xx', 'mhm', 'ok'],
  ]
  for (const [language, ...texts] of backchannels)
    for (const text of texts) t.ok(isBackchannel(text, language), `${language}: ${text}`)
  t.end()
})

t.test('other words, more than three words, and no words are not a backchannel', (t) => {
  const turns: [language: string, ...texts: string[]][] = [
    [
      'en',
      'No.',
      'Stop',
      'Wait',
      'Yeah, but wait',
      'Okay, stop.',
      'yes yes yes yes',
      'right now',
      'I see a bus',
      'ok I see yes',
      '',
    ],
    ['en', '...', 'What?', 'surely', 'yesterday'],
    ['de', 'Nein', 'Moment', 'Ja, aber', 'jaguar'],
    ['ja', 'いいえ', 'ちょっと待って', 'はいと言いました'],
    ['zh', '不是', '等一下', '好的但是等一下'],
    ['ru', 'нет', 'подождите'],
  ]
  for (const [language, ...texts] of turns)
    for (const text of texts) t.notOk(isBackchannel(text, language), `${language}: ${text}`)
  t.end()
})

t.test("a user's text that ends with an open clause is not taken for a finished turn", (t) => {
  const open: [language: string, ...texts: string[]][] = [
    ['en', 'I would like to book a table and', 'I want a', 'It is because', 'My number is,', 'so, um', 'well...', ''],
    ['de', 'Ich möchte einen Tisch und', 'Das ist, weil', 'ähm', 'mit dem'],
    ['es', 'Quiero una mesa para', 'pues', 'porque'],
    ['fr', 'Je voudrais une table pour', 'parce que'],
    ['ja', '予約したいんですが', 'えーと'],
    ['zh', '我想订一张桌子，因为', '还有'],
    ['en', 'It is five five five', '555 12', 'four two'],
  ]
  for (const [language, ...texts] of open)
    for (const text of texts) t.notOk(looksFinished(text, language), `${language}: ${text}`)
  t.end()
})

t.test('a whole sentence, an answer and a question are taken for a finished turn', (t) => {
  const finished: [language: string, ...texts: string[]][] = [
    [
      'en',
      'Yes.',
      'No',
      'Yes please',
      'I would like to book a table.',
      'What is it for?',
      'Turn it on.',
      'Yes it is',
      'I think so.',
    ],
    ['en', 'My number is 555 123 4567', 'I have five', 'five five five one two three four', 'England'],
    ['de', 'Rufen Sie mich an.', 'Ich weiß nicht', 'Ja bitte', 'Hund'],
    ['es', 'No', 'Sí', 'nada más', 'por favor'],
    ['fr', 'Je ne sais pas', 'Oui'],
    ['ja', 'こんにちは', 'ありがと', 'はい、お願いします'],
    ['zh', '好的', '我要这个', '是的'],
    ['xx', 'lorem ipsum'],
  ]
  for (const [language, ...texts] of finished)
    for (const text of texts) t.ok(looksFinished(text, language), `${language}: ${text}`)
  t.end()
})

t.test('each language has all word lists, and a language tag finds its language', (t) => {
  for (const [language, { turns, agent }] of Object.entries(languages))
    for (const text of Object.values({ ...turns, ...agent })) t.ok(text instanceof RegExp || text.length > 2, language)
  t.equal(wordsOfLanguage('PT-br'), languages['pt'])
  t.equal(wordsOfLanguage('tlh'), languages['en'])
  t.end()
})

t.test('long texts are classified within the time limit', (t) => {
  const spentMs = processorMs(() => {
    for (const unit of ['mhm ', 'm', '5 ', '. ', '嗯', 'and', '…'])
      for (const judge of [isBackchannel, looksFinished]) judge(unit.repeat(100_000), 'en')
  })
  t.ok(spentMs < 2000)
  t.end()
})
