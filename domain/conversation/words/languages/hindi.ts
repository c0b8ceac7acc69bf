import type { LanguageWords } from './language-words.ts'

export const hindi: LanguageWords = {
  turns: {
    backchannels: 'हाँ|हां|जी|जी हाँ|जी हां|अच्छा|ठीक|ठीक है|सही|बिल्कुल|समझ गया|समझ गई|हम्म|हूँ|ओके',
    unfinished: 'और|या|लेकिन|मगर|क्योंकि|कि|अगर|जब|एक|मेरा|मेरी|मेरे|आपका|के लिए|मतलब',
  },
  agent: {
    fallback: 'माफ़ कीजिए, मैं अभी जवाब नहीं दे पा रहा हूँ। क्या आप दोबारा कह सकते हैं?',
    toolLeadIn: 'एक क्षण रुकिए।',
  },
}
