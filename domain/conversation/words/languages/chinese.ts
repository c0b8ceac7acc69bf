import type { LanguageWords } from './language-words.ts'

export const chinese: LanguageWords = {
  turns: {
    backchannels:
      '嗯|嗯嗯|哦|噢|啊|好|好的|好吧|对|对对|对的|是|是的|是啊|行|可以|没错|明白|明白了|知道了|我知道|了解|原来如此|这样啊|當然|当然|好啊|對|對的|沒錯|唔',
    unfinished:
      '和|跟|与|或|或者|但|但是|可是|因为|因為|所以|如果|要是|虽然|雖然|而且|还有|還有|然后|然後|就是|我想|我要|从|從|把|被|对于|关于|呃|比如|例如',
  },
  agent: {
    fallback: '抱歉，我现在无法回答。请您再说一遍。',
    toolLeadIn: '请稍等。',
  },
}
