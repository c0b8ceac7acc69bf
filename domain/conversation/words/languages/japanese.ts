import type { LanguageWords } from './language-words.ts'

export const japanese: LanguageWords = {
  turns: {
    backchannels:
      'はい|ええ|うん|うんうん|そう|そうですね|そうですか|そうそう|なるほど|へえ|ほう|わかりました|分かりました|了解|了解です|たしかに|確かに|ふーん|ふん|あー|ああ|おー|まあ|ですよね|オッケー|オーケー',
    unfinished:
      'が|を|から|ので|けど|けれど|けれども|それで|それから|そして|でも|だから|えーと|ええと|えっと|あのー|ですけど|んですが|ですが|たら|れば',
  },
  agent: {
    fallback: '申し訳ありません、ただいまお答えできません。もう一度お話しください。',
    toolLeadIn: '少々お待ちください。',
  },
}
