import t from 'tap'
import { canonicalTag, detectedLanguage, vendorTag } from '../../providers/vendors/language-tags.ts'

t.test("a language tag is sent in the vendor's spelling, and unchanged if the vendor uses the same", (t) => {
  const cases = [
    ['assemblyai', 'en-US', 'en_us'],
    ['assemblyai', 'en-GB', 'en_uk'],
    ['assemblyai', 'de-CH', 'de_ch'],
    ['assemblyai', 'jv', 'jw'],
    ['assemblyai', 'de', 'de'],
    ['deepgram', 'fil', 'tl'],
    ['deepgram', 'nb', 'no'],
    ['deepgram', 'es-419', 'es-419'],
    ['cartesia', 'jv', 'jw'],
    ['soniox', 'fil', 'tl'],
    ['soniox', 'zh', 'zh'],
    ['speechmatics', 'zh', 'cmn'],
  ] as const
  for (const [vendor, tag, code] of cases) t.equal(vendorTag(vendor, tag), code, `${vendor} ${tag}`)
  t.end()
})

t.test('a language that a vendor detected becomes a canonical tag', (t) => {
  const codes = { deu: 'de', en_us: 'en-US', en_uk: 'en-GB', cmn: 'zh', tl: 'fil', jw: 'jv', 'pt-BR': 'pt-BR' }
  for (const [code, tag] of Object.entries(codes)) t.equal(canonicalTag(code), tag, code)
  const replaced = { in: 'id', iw: 'he', ji: 'yi', mo: 'ro', sh: 'sr-Latn', de: 'de', no: 'no' }
  for (const [code, tag] of Object.entries(replaced)) t.equal(canonicalTag(code), tag, code)
  for (const none of ['', 'no such language', 7, null, undefined]) t.same(detectedLanguage(none), {})
  t.same(detectedLanguage('spa'), { language: 'es' })
  t.end()
})
