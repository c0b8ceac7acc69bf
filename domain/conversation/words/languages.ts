/**
 * The voice loop's words for each language. Lists are texts with `|` between their entries, in lower case, without
 * punctuation. If a word is also an answer or a request ("no", "stop", "wait"), it does not count as a backchannel.
 */
export type LanguageWords = {
  /** Sounds and words by which callers show that they are listening and the agent should continue. */
  backchannels: string
  /**
   * Conjunctions, articles, prepositions, pronouns and fillers. If a text ends with one, the sentence is not finished.
   */
  unfinished: string
  /** Like `unfinished`, but a full stop after them finishes the sentence: "Ich komme mit." */
  particles?: string
  /**
   * Words that are an answer as often as the start of a request. If such a word stands alone without a full stop, the
   * agent waits as after an unfinished sentence.
   */
  openings?: string
  /** The agent says this if the LLM gives no answer in a turn. */
  fallback: string
  /** The agent says this before a slow tool. */
  toolLeadIn: string
  goodbye: string
}

/** Listeners' sounds. Transcripts spell them alike in most languages. */
export const soundsOfListening = 'mhm|mm|mmm|hm|hmm|mm hmm|m hm|uh huh|aha|ah|oh|ok|okay'

export const languages: Readonly<Record<string, LanguageWords>> = {
  en: {
    backchannels:
      'yeah|yes|yep|yup|ya|right|sure|alright|all right|i see|got it|of course|exactly|true|great|good|cool|nice|fine|uh|um|mhmm|understood|go on|i know|really|wow|absolutely|indeed|makes sense|uh hm',
    unfinished:
      'and|or|but|because|cause|if|when|while|although|unless|until|since|which|whose|the|a|an|my|your|his|her|its|our|their|of|to|at|for|with|from|into|between|than|as|i|im|i am|i would like|i want|id like|can you|could you|can you please|could you please|would you please|im calling is|uh|um|er|you know|i mean|let me see|plus|very|and so|my name is|i would|because of|calling about|question about|ask about|asking about|know about|can i|could i|may i|can we|could we|do you|did you|would you|will you|do i|should i|how do i|is there|are there|can you tell me|could you tell me|i need|i wanted|im looking|im calling|let me|what if|how much|number is|name is|address is|email is|code is|here is|spelled|dot|underscore|hyphen|dash',
    openings: 'please',
    fallback: 'Sorry, I am having trouble answering right now. Could you say that again?',
    toolLeadIn: 'One moment, please.',
    goodbye: 'Goodbye.',
  },
  de: {
    backchannels:
      'ja|jo|jap|genau|stimmt|richtig|klar|alles klar|gut|schön|super|verstehe|ich verstehe|natürlich|sicher|ach so|achso|aha|eben|in ordnung|ähm|äh|mhmm|ach|echt|sehr gut|na klar|weiter',
    unfinished:
      'und|oder|aber|denn|sondern|weil|dass|wenn|ob|obwohl|während|damit|der|die|das|den|dem|des|eine|einen|einem|einer|mein|meine|meinen|dein|sein|ihr|ihre|unser|dieser|diese|dieses|in|im|am|von|vom|zum|zur|für|ich|wir|ich möchte|ich hätte gern|können sie|äh|ähm|also|und zwar|nämlich|ich brauche|ich will|ich wollte|wollte fragen|ät|klammeraffe|können wir|könnten sie|haben sie|gibt es|ich rufe an|nummer ist|nummer lautet|name ist|adresse ist|buchstabiert|unterstrich|bindestrich|wegen',
    particles: 'mit|über|punkt|ein|bei',
    fallback: 'Entschuldigung, ich kann gerade nicht antworten. Können Sie das bitte wiederholen?',
    toolLeadIn: 'Einen Moment, bitte.',
    goodbye: 'Auf Wiederhören.',
  },
  es: {
    backchannels:
      'sí|si|ajá|aja|claro|vale|bueno|bien|muy bien|exacto|exactamente|correcto|ya|ya veo|entiendo|de acuerdo|perfecto|por supuesto|eso|genial|eh|mmm|cierto|así es|órale|dale',
    unfinished:
      'y|e|o|u|pero|porque|que|cuando|aunque|mientras|como|el|la|los|las|un|una|unos|unas|mi|mis|tu|tus|su|sus|este|esta|estos|estas|de|del|a|al|en|con|por|para|sin|sobre|desde|hasta|entre|me|se|le|lo|quiero|quisiera|puede|eh|pues|o sea|muy|necesito|quería|me gustaría|podría|llamo para|número es|nombre es|dirección es|se escribe|arroba|guión',
    fallback: 'Perdone, ahora mismo no puedo responder. ¿Puede repetirlo?',
    toolLeadIn: 'Un momento, por favor.',
    goodbye: 'Adiós.',
  },
  fr: {
    backchannels:
      'oui|ouais|voilà|exact|exactement|bien|très bien|bien sûr|daccord|je vois|je comprends|compris|parfait|super|ah oui|ah bon|hein|euh|ben oui|tout à fait|cest ça|entendu|ça marche|bon',
    unfinished:
      'et|ou|mais|donc|car|parce que|que|qui|quand|si|le|la|les|un|une|des|du|de|au|aux|mon|ma|mes|ton|ta|tes|son|sa|ses|notre|votre|vos|ce|cet|cette|ces|à|en|dans|sur|avec|pour|par|chez|vers|je|tu|est|cest|jai|je voudrais|euh|ben|alors|enfin|jaimerais|jai besoin|je veux|je cherche|puis je|pouvez vous|est ce que|avez vous|jappelle pour|numéro est|nom est|adresse est|sécrit|arobase|tiret',
    fallback: 'Désolé, je ne peux pas répondre pour le moment. Pouvez-vous répéter ?',
    toolLeadIn: 'Un instant, s’il vous plaît.',
    goodbye: 'Au revoir.',
  },
  it: {
    backchannels:
      'sì|si|già|certo|esatto|esattamente|giusto|bene|va bene|capisco|ho capito|perfetto|daccordo|ah ecco|ecco|eh|ehm|naturalmente|ottimo|benissimo|proprio così|vero',
    unfinished:
      'e|ed|o|oppure|ma|però|perché|che|quando|mentre|come|dove|il|lo|la|i|gli|le|un|uno|una|mio|mia|miei|mie|tuo|tua|suo|sua|nostro|questo|questa|di|del|della|dei|a|al|alla|da|dal|dalla|in|nel|nella|con|su|sul|per|tra|fra|vorrei|voglio|può|ehm|cioè|allora|quindi|ho bisogno|volevo|potrebbe|avete|chiamo per|numero è|nome è|indirizzo è|si scrive|chiocciola|trattino',
    fallback: 'Mi scusi, in questo momento non riesco a rispondere. Può ripetere?',
    toolLeadIn: 'Un momento, per favore.',
    goodbye: 'Arrivederci.',
  },
  pt: {
    backchannels:
      'sim|é|aham|ahã|claro|certo|isso|isso mesmo|exato|exatamente|bem|tá|tá bom|está bem|entendi|entendo|percebo|pois|pois é|beleza|perfeito|ótimo|com certeza|né|uhum|tudo bem|legal',
    unfinished:
      'e|ou|mas|porque|que|se|quando|enquanto|embora|como|onde|o|a|os|as|um|uma|uns|umas|meu|minha|meus|minhas|seu|sua|seus|suas|este|esta|esse|essa|de|do|da|dos|das|em|no|na|nos|nas|com|por|pelo|pela|para|pra|sem|sobre|até|entre|me|quero|queria|gostaria|pode|hum|então|tipo|preciso|queria saber|poderia|vocês têm|ligo para|número é|nome é|endereço é|se escreve|arroba|hífen',
    fallback: 'Desculpe, não consigo responder agora. Pode repetir?',
    toolLeadIn: 'Um momento, por favor.',
    goodbye: 'Até logo.',
  },
  nl: {
    backchannels:
      'ja|jawel|jep|precies|klopt|juist|goed|prima|oké|begrijp ik|ik begrijp het|ik snap het|snap ik|natuurlijk|zeker|inderdaad|aha|uh|eh|mooi|duidelijk|is goed|tuurlijk|echt',
    unfinished:
      'en|of|maar|want|dus|omdat|wanneer|terwijl|hoewel|totdat|de|een|mijn|jouw|uw|ons|onze|deze|dit|van|naar|tussen|te|ik|ik wil|ik zou|ik zou graag|apenstaartje|kunt u|kun je|uh|eh|ehm|nou|ik moet|mag ik|heeft u|ik bel over|nummer is|naam is|adres is|streepje',
    particles: 'met|over|punt|voor|bij',
    fallback: 'Sorry, ik kan op dit moment niet antwoorden. Kunt u dat herhalen?',
    toolLeadIn: 'Een ogenblik, alstublieft.',
    goodbye: 'Tot ziens.',
  },
  ru: {
    backchannels:
      'да|ага|угу|ну да|так|ясно|понятно|понял|поняла|понимаю|хорошо|верно|точно|конечно|ладно|окей|правильно|именно|мм|м|ну|отлично|вот как|разумеется',
    unfinished:
      'и|а|но|или|что|чтобы|если|когда|потому что|потому|хотя|как|где|который|которая|которые|в|во|на|с|со|к|ко|у|от|до|из|под|над|о|об|про|для|без|через|между|мой|моя|мои|ваш|ваша|этот|эта|я|не|ну|э|эм|значит|то есть|я хочу',
    fallback: 'Извините, сейчас я не могу ответить. Повторите, пожалуйста.',
    toolLeadIn: 'Одну минуту, пожалуйста.',
    goodbye: 'До свидания.',
  },
  pl: {
    backchannels:
      'tak|no|no tak|aha|mhm|dobrze|dobra|jasne|rozumiem|oczywiście|zgadza się|dokładnie|racja|pewnie|okej|super|świetnie|właśnie|yhy',
    unfinished:
      'i|a|ale|albo|lub|oraz|bo|ponieważ|że|żeby|jeśli|jeżeli|gdy|kiedy|chociaż|który|która|które|w|we|na|z|ze|do|od|o|przy|pod|nad|dla|bez|przez|mój|moja|moje|yyy|eee|więc|chcę|chciałbym|chciałabym|czy',
    fallback: 'Przepraszam, nie mogę teraz odpowiedzieć. Czy można powtórzyć?',
    toolLeadIn: 'Chwileczkę, proszę.',
    goodbye: 'Do widzenia.',
  },
  sv: {
    backchannels:
      'ja|jo|japp|jaha|precis|just det|okej|visst|självklart|jag förstår|förstår|bra|okej då|mm|aa|jaså|exakt',
    unfinished:
      'och|eller|men|för|att|som|om|när|medan|eftersom|fast|en|ett|min|mitt|mina|vår|från|vid|mellan|jag|jag vill|kan du|öh|eh|alltså|liksom',
    fallback: 'Ursäkta, jag kan inte svara just nu. Kan du säga det igen?',
    toolLeadIn: 'Ett ögonblick.',
    goodbye: 'Hej då.',
  },
  tr: {
    backchannels:
      'evet|tamam|tabii|tabi|anladım|anlıyorum|hı hı|hıhı|doğru|aynen|peki|güzel|olur|elbette|he|öyle|tamamdır',
    unfinished: 've|veya|ya da|ama|fakat|çünkü|ki|eğer|bir|benim|senin|sizin|için|ile|gibi|kadar|şey|yani|ııı|eee',
    fallback: 'Üzgünüm, şu anda yanıt veremiyorum. Tekrar eder misiniz?',
    toolLeadIn: 'Bir saniye lütfen.',
    goodbye: 'Hoşça kalın.',
  },
  ja: {
    backchannels:
      'はい|ええ|うん|うんうん|そう|そうですね|そうですか|そうそう|なるほど|へえ|ほう|わかりました|分かりました|了解|了解です|たしかに|確かに|ふーん|ふん|あー|ああ|おー|まあ|ですよね|オッケー|オーケー',
    unfinished:
      'が|を|から|ので|けど|けれど|けれども|それで|それから|そして|でも|だから|えーと|ええと|えっと|あのー|ですけど|んですが|ですが|たら|れば',
    fallback: '申し訳ありません、ただいまお答えできません。もう一度お話しください。',
    toolLeadIn: '少々お待ちください。',
    goodbye: '失礼いたします。',
  },
  zh: {
    backchannels:
      '嗯|嗯嗯|哦|噢|啊|好|好的|好吧|对|对对|对的|是|是的|是啊|行|可以|没错|明白|明白了|知道了|我知道|了解|原来如此|这样啊|當然|当然|好啊|對|對的|沒錯|唔',
    unfinished:
      '和|跟|与|或|或者|但|但是|可是|因为|因為|所以|如果|要是|虽然|雖然|而且|还有|還有|然后|然後|就是|我想|我要|从|從|把|被|对于|关于|呃|比如|例如',
    fallback: '抱歉，我现在无法回答。请您再说一遍。',
    toolLeadIn: '请稍等。',
    goodbye: '再见。',
  },
  ko: {
    backchannels:
      '네|예|응|어|음|그래|그래요|그렇죠|그렇군요|맞아요|맞습니다|알겠습니다|알겠어요|좋아요|아|아하|네네|그럼요',
    unfinished:
      '그리고|하지만|그런데|그래서|왜냐하면|만약|또|또는|근데|그러면|저는|제가|나는|내|제|저기|그|음|그러니까',
    fallback: '죄송합니다. 지금은 답변드릴 수 없습니다. 다시 말씀해 주시겠어요?',
    toolLeadIn: '잠시만 기다려 주세요.',
    goodbye: '안녕히 계세요.',
  },
  hi: {
    backchannels: 'हाँ|हां|जी|जी हाँ|जी हां|अच्छा|ठीक|ठीक है|सही|बिल्कुल|समझ गया|समझ गई|हम्म|हूँ|ओके',
    unfinished: 'और|या|लेकिन|मगर|क्योंकि|कि|अगर|जब|एक|मेरा|मेरी|मेरे|आपका|के लिए|मतलब',
    fallback: 'माफ़ कीजिए, मैं अभी जवाब नहीं दे पा रहा हूँ। क्या आप दोबारा कह सकते हैं?',
    toolLeadIn: 'एक क्षण रुकिए।',
    goodbye: 'नमस्ते।',
  },
  ar: {
    backchannels: 'نعم|أجل|أيوه|ايوه|طيب|تمام|صحيح|حسنا|حسنًا|ماشي|مفهوم|فهمت|أكيد|بالتأكيد|ممتاز|آه|اه|إي',
    unfinished: 'و|أو|لكن|ولكن|لأن|أن|إن|إذا|عندما|الذي|التي|في|من|إلى|على|عن|مع|بين|أريد|يعني|ثم',
    fallback: 'عذرًا، لا أستطيع الإجابة الآن. هل يمكنك إعادة ما قلته؟',
    toolLeadIn: 'لحظة من فضلك.',
    goodbye: 'مع السلامة.',
  },
}

/** Returns the words for a language tag. An unknown language gets the English words. */
export function wordsOfLanguage(tag: string): LanguageWords {
  return languages[tag.toLowerCase().split(/[-_]/)[0] as string] ?? (languages['en'] as LanguageWords)
}
