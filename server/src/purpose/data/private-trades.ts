import type { Trade } from './trade-shape.ts';

/** Goods of private life, and goods that are money in another form. See `Trade` for the notation and its source. */
export const PRIVATE_TRADES: readonly Trade[] = [
  {
    id: 'gift_cards',
    family: 'cash_like',
    label: 'gift cards and stored value',
    mcc: '6051, 6540',
    words:
      'gift card; gift cards; giftcard; giftcards; gift voucher; gift vouchers; ~voucher; vouchers; store credit; prepaid card; prepaid visa; prepaid mastercard; stored value; wallet code; wallet top-up; reload card; redeem code; ecard; e-gift; egift; gift certificate; gift code; geschenkkarte; geschenkgutschein; gutscheinkarte; guthabenkarte; guthabencode; carte cadeau; bon d achat; chèque cadeau; tarjeta regalo; cadeaukaart; cadeaubon; carta regalo; itunes card; google play card; steam card; amazon card; vanilla visa; presentkort',
    companies:
      'bitrefill; cardpool; raise.com; giftcards.com; blackhawk network; incomm; paysafecard; neosurf; tango card; giftogram; cadooz; wunschgutschein; gyft; egifter; recharge.com; g2a; kinguin; eneba; startselect; prezzee; tremendous; edenred; dundle',
  },
  {
    id: 'crypto',
    family: 'cash_like',
    label: 'cryptocurrency',
    mcc: '6051',
    words:
      'crypto; cryptocurrency; bitcoin; btc; ethereum; ~eth; usdt; usdc; tether; stablecoin; stablecoins; litecoin; monero; xmr; solana; dogecoin; nft; nfts; crypto wallet; seed phrase; onchain; ~staking; altcoin; defi; kryptowährung; criptomonedas; mining rig; hardware wallet',
    companies:
      'coinbase; binance; ^kraken; crypto.com; bitpanda; bitstamp; bybit; okx; kucoin; moonpay; metamask; ledger wallet; trezor; gemini exchange; bitfinex; localbitcoins; opensea; ramp network; changelly; paxful; uniswap; bitvavo; blockchain.com; bison app; bitpay; swan bitcoin',
  },
  {
    id: 'money_transfer',
    family: 'cash_like',
    label: 'transfers of money to persons',
    mcc: '4829, 6050, 6211',
    words:
      'money transfer; wire transfer; cash advance; cash withdrawal; western union; money order; remittance; friends and family; personal account; private account; send money; cash pickup; bargeld; überweisung an; lend money; personal loan; payday loan; foreign exchange; ~cash; ~bail',
    companies:
      'western union; moneygram; venmo; cash app; ^zelle; wise transfer; remitly; worldremit; ria money; xoom; revolut; twint; bizum; ^swish; tikkie; gofundme; ^lydia',
  },
  {
    id: 'investments',
    family: 'cash_like',
    label: 'shares and investments',
    mcc: '6211',
    words:
      '~shares; ~stocks; etf; etfs; mutual fund; ~bonds; options trading; forex; cfd; gold bars; gold bullion; bullion; silver coins; gold coins; krugerrand; brokerage; ~portfolio; aktien; wertpapiere; actions bourse; trading account; ~securities; crowdfunding stake',
    companies:
      'robinhood; etrade; charles schwab; fidelity; vanguard; trade republic; scalable capital; etoro; interactive brokers; degiro; plus500; td ameritrade; comdirect; saxo; ig markets; degussa goldhandel; pro aurum; apmex; acorns; wealthfront; betterment',
  },
  {
    id: 'gaming',
    family: 'gaming',
    label: 'video games',
    mcc: '5816, 5945, 7994',
    words:
      'video game; video games; game console; gaming console; console games; playstation; ps5; ps4; xbox; nintendo; nintendo switch; game pass; v-bucks; robux; gaming chair; ~gaming; steam deck; loot box; loot boxes; battle pass; in-game; ~skins; dlc; game credits; twitch subs; videospiel; jeu vidéo; videojuego; gamer; dualsense; joystick; minecraft; fortnite; fifa points; oculus quest; board game; board games; ~puzzle; ~lego',
    companies:
      '^steam; ^valve; steam games; steampowered; nintendo; nintendo eshop; playstation; playstation store; sony interactive; xbox; xbox game; epic games; roblox; riot games; blizzard; activision; electronic arts; ea games; ubisoft; gamestop; gog.com; twitch; discord nitro; ^discord; rockstar games; mojang; supercell; king.com; zynga; razer; humble bundle; games workshop; ~lego; hasbro; ^mattel; ravensburger',
  },
  {
    id: 'gambling',
    family: 'gambling',
    label: 'gambling and dating',
    mcc: '7273, 7800-7802, 7995',
    words:
      'casino; casino chips; betting; sports bet; ~bets; wager; lottery; lotto; poker; roulette; slot machine; ~slots; ~bingo; sportsbook; gambling; wetten; sportwetten; glücksspiel; pari sportif; apuestas; dating app; dating; matchmaking; escort',
    companies:
      'bet365; bwin; draftkings; fanduel; pokerstars; tipico; william hill; ladbrokes; paddy power; betfair; unibet; betway; 888 casino; stake.com; lottoland; westlotto; national lottery; caesars; mgm resorts; tinder; ^bumble; ~hinge; match.com; parship; elitepartner; betmgm; betano; winamax; national lottery',
  },
  {
    id: 'streaming',
    family: 'entertainment',
    label: 'entertainment and streaming',
    mcc: '5815, 7829-7841, 7922, 7929',
    words:
      'streaming; ~movie; movies; cinema; movie tickets; music streaming; ~concert; concert tickets; theatre tickets; theater tickets; ~festival; ~opera; ~musical; stadium; football tickets; season ticket; karaoke; bowling; escape room; amusement park; zoo; kino; konzert; konzertkarten; spotify premium; podcast subscription; vinyl records; dvd; blu-ray; nightclub; fan shop; concierto; cinéma; ~party; birthday party; barbecue; bbq; charcoal; family plan; paintball',
    companies:
      'netflix; spotify; disney plus; disney+; hulu; hbo max; ^max; paramount plus; paramount+; ^peacock; apple music; apple tv; youtube premium; amazon prime video; prime video; deezer; ^tidal; soundcloud; ticketmaster; eventim; stubhub; viagogo; live nation; seatgeek; fandango; amc theatres; cineworld; cinemaxx; uci kinowelt; dazn; sky sport; espn; crunchyroll; waipu; patreon; onlyfans; cinestar; odeon; pathé; ^fever; ticketcorner; vivid seats; ^axs',
  },
  {
    id: 'clothing',
    family: 'fashion_and_beauty',
    label: 'clothing and shoes',
    mcc: '5611-5699',
    words:
      'clothes; clothing; t-shirt; t-shirts; shirt; shirts; jacket; jackets; ~coat; ~coats; trousers; jeans; ~dress; dresses; skirt; ~suit; ~suits; tuxedo; sweater; hoodie; hoodies; underwear; lingerie; socks; shoes; shoe; sneakers; running shoes; ~trainers; ~boots; ~heels; sandals; handbag; handbags; ~purse; ~backpack; ~belt; scarf; sunglasses; swimwear; bikini; pyjamas; fashion; outfit; kleidung; jacke; schuhe; ~hose; ~kleid; vêtements; chaussures; veste; ropa; zapatos; kleding; schoenen; ~jas; ~tie; blouse; leggings',
    companies:
      'zalando; asos; h&m; zara; uniqlo; primark; about you; nike; adidas; ^puma; new balance; asics; ^reebok; under armour; levi s; ^gap; old navy; ^next; ^mango; c&a; shein; temu; boohoo; farfetch; net-a-porter; macy s; nordstrom; bloomingdale s; saks fifth avenue; neiman marcus; foot locker; deichmann; zappos; patagonia; the north face; tommy hilfiger; ralph lauren; calvin klein; hugo boss; lululemon; victoria s secret; vinted; birkenstock; dr. martens; marks & spencer; debenhams; john lewis; peek & cloppenburg; breuninger; otto; bonprix; massimo dutti; abercrombie; american eagle; michael kors; skechers; ^converse; ^vans; crocs; timberland; jd sports; esprit; bestsecret; tk maxx; eyerim',
  },
  {
    id: 'beauty',
    family: 'fashion_and_beauty',
    label: 'cosmetics, perfume and spa',
    mcc: '5977, 7230, 7298',
    words:
      'perfume; fragrance; cologne; make-up; makeup; lipstick; mascara; skincare; skin care; cosmetics; face cream; nail polish; shampoo; haircut; hairdresser; hair salon; manicure; massage; massages; spa; spa day; sauna; ~wellness; tattoo; botox; tanning; parfum; kosmetik; friseur; cosmétiques; maquillage; perfumería; eau de toilette; hair dryer; barber; facial',
    companies:
      'sephora; douglas; ulta; ^lush; mac cosmetics; the body shop; l oréal; l oreal; estée lauder; estee lauder; clinique; lancôme; yves rocher; ^rituals; flaconi; marionnaud; kiehl s; l occitane; bath & body works; dyson hair; nyx; maybelline; nivea haus; glossier; urban decay; treatwell; ^notino; fenty beauty; jo malone; dior beauty; kiko milano',
  },
  {
    id: 'luxury',
    family: 'luxury',
    label: 'jewellery and luxury goods',
    mcc: '5094, 5944, 5971',
    words:
      'jewellery; jewelry; jeweller; jeweler; necklace; bracelet; earrings; diamond; diamonds; wedding ring; engagement ring; gold ring; pendant; luxury watch; wristwatch; designer bag; ~luxury; yacht; private jet; supercar; fur coat; caviar; fine art; ~antique; antiques; schmuck; juwelier; halskette; armband; ohrringe; ~uhr; bijoux; ~montre; collier; joyería; reloj; sieraden; horloge; rose gold; swiss watch; ~pearls; cufflinks; brooch',
    companies:
      'rolex; omega watches; tag heuer; patek philippe; audemars piguet; cartier; tiffany; tiffany & co; bulgari; bvlgari; swarovski; ^pandora; louis vuitton; gucci; ^prada; hermès; chanel; ^dior; burberry; versace; balenciaga; fendi; saint laurent; montblanc; breitling; iwc; hublot; chopard; van cleef; harry winston; bucherer; ^christ; wempe; chrono24; ^signet; kay jewelers; zales; blue nile; sotheby s; christie s; ferrari; lamborghini; porsche; bentley; rolls-royce; moncler; ^jared; thomas sabo; mejuri; h. samuel; ernest jones; watches of switzerland; ^longines; tissot; bottega veneta; goyard; david yurman; netjets; watchfinder',
  },
  {
    id: 'home_goods',
    family: 'home',
    label: 'household goods',
    mcc: '5200, 5719, 5722',
    words:
      'household; household items; kitchenware; cookware; ~pan; frying pan; kettle; toaster; ~blender; coffee maker; coffee machine; espresso machine; coffee grinder; ~grinder; vacuum cleaner; washing machine; ~fridge; refrigerator; ~freezer; ~oven; microwave; dishwasher; ~iron ironing; bedding; pillow; pillows; mattress; curtains; carpet; ~rug; ~candles; vase; ~towels; light bulbs; light bulb; ~lamp; air fryer; crockery; plates bowls; cutlery; ~glasses wine; tablecloth; haushalt; küche; bettwäsche; kissen; vorhang; huishouden; ménage; hogar; ~television; ~tv; soundbar; smart watch; smartwatch; fitness tracker; speaker bluetooth; ~camera; ~batteries; extension cord; air purifier; humidifier; robot vacuum; hot tub; ~grill',
    companies:
      'bed bath & beyond; williams-sonoma; dyson; miele; bosch home; siemens hausgeräte; philips; whirlpool; electrolux; le creuset; wmf; tupperware; yankee candle; zara home; the container store; dunelm; sonos; bose; gopro; fitbit; garmin; ^tempur; emma matratzen; casper sleep; hema; blokker; ^action; butlers; ^depot; tchibo; breville; kitchenaid; delonghi; roomba; irobot; peloton',
  },
  {
    id: 'children',
    family: 'children',
    label: 'baby and children goods',
    mcc: '5641, 5945',
    words:
      '~baby; infant formula; baby formula; nappies; diapers; baby food; stroller; pram; car seat baby; pacifier; crib; ~toys; ~toy; ~doll; teddy bear; kindergarten; daycare; childcare; babysitter; nanny; playground; spielzeug; windeln; kinderwagen; jouet; couches bébé; juguetes; pañales; luiers; speelgoed; school bag; nursery; breast pump',
    companies:
      'toys r us; babymarkt; pampers; huggies; smyths toys; mothercare; carter s; buybuy baby; fisher-price; playmobil; hipp; bugaboo; steiff; babywalz; care.com; kinderkraft; vertbaudet; prénatal; hamleys',
  },
  {
    id: 'animals',
    family: 'animals',
    label: 'pets and vets',
    mcc: '0742, 5995',
    words:
      '~pet; ~pets; dog food; cat food; pet food; dog leash; cat litter; litter box; aquarium; veterinarian; vet bill; veterinary; puppy; kitten; kibble; hundefutter; katzenfutter; tierarzt; croquettes chien; vétérinaire; veterinario; dierenarts; horse riding; bird seed; hamster',
    companies:
      'petco; petsmart; chewy; fressnapf; zooplus; pets at home; royal canin; maxi zoo; purina; barkbox; futterhaus; rover.com; banfield',
  },
  {
    id: 'sport',
    family: 'sport',
    label: 'sport and fitness',
    mcc: '5941, 7941, 7997',
    words:
      'gym; gym membership; fitness studio; yoga class; personal trainer; dumbbells; treadmill; bicycle; ~bike; mountain bike; ~golf; golf clubs; ~tennis; tennis racket; ~ski; skis; snowboard; surfboard; fishing rod; ~camping; ~tent; sleeping bag; ~hunting; football boots; protein powder; swimming pool pass; sportverein; fitnessstudio; fahrrad; vélo; bicicleta; fiets; marathon entry; kayak; climbing; skateboard; green fee',
    companies:
      'decathlon; planet fitness; mcfit; fitness first; urban sports club; classpass; virgin active; equinox; la fitness; basic-fit; dick s sporting goods; intersport; ^rei; sportscheck; wellpass; strava; canyon bicycles; trek bikes; specialized bikes; callaway; titleist; bergfreunde; globetrotter; myprotein; ^rapha; golf galaxy; crossfit; anytime fitness; pure gym; puregym; holmes place',
  },
  {
    id: 'adult',
    family: 'adult',
    label: 'adult goods and weapons',
    mcc: '5967, 7273',
    words:
      'adult content; porn; webcam model; sex toys; firearm; firearms; ammunition; handgun; rifle; pepper spray; cannabis; marijuana; cbd oil; fireworks; waffe; munition; thc; weed dispensary; switchblade',
    companies:
      'pornhub; chaturbate; eis.de; orion versand; lovehoney; smith & wesson; glock; adultfriendfinder; leafly; weedmaps',
  },
  {
    id: 'gifts_and_flowers',
    family: 'luxury',
    label: 'presents and flowers',
    mcc: '5947, 5992',
    words:
      'gift; gifts; present for; presents; bouquet; flowers bouquet; ~flowers; ~roses; birthday present; birthday gift; anniversary gift; greeting card; souvenir; souvenirs; geschenk; geschenke; blumen; blumenstrauß; cadeau; fleurs; regalo; flores; bloemen; gift basket; hamper; gift wrap; wedding gift; keepsake; florist',
    companies:
      'interflora; 1-800-flowers; ftd; fleurop; bloom & wild; teleflora; ^hallmark; moonpig; blume2000; etsy gifts; mydays; jochen schweizer; smartbox; funkypigeon; proflowers; not on the high street; euroflorist; geschenkidee',
  },
  {
    id: 'art_and_craft',
    family: 'art_and_craft',
    label: 'art, craft and music',
    mcc: '5733, 5949, 5970',
    words:
      'guitar; piano; violin; drums; sheet music; music lessons; ~canvas painting; acrylic paint; watercolour; watercolor; oil paint; brushes; yarn; knitting; crochet; sewing; sewing machine; ~fabric; ~beads; embroidery; pottery; ~clay; easel; scrapbook; gitarre; klavier; wolle; ~stoff; tricot; guitarra; synthesizer; ~microphone; scale model',
    companies:
      'thomann; guitar center; sweetwater; hobby lobby; michaels stores; joann; ^fender; gibson; yamaha music; steinway; music store; reverb.com; boesner; gerstaecker; cass art; blick art; hobbycraft; buttinette; ^korg; ^roland',
  },
  {
    id: 'charity',
    family: 'finance',
    label: 'donations',
    mcc: '8398, 8651, 8661',
    words:
      'donation; donations; donate; charity; charitable; fundraiser; spende; spenden; don caritatif; donación; donatie; political campaign contribution; tithe; crowdfunding; sponsorship of club',
    companies:
      'red cross; unicef; greenpeace; wwf; oxfam; save the children; doctors without borders; médecins sans frontières; amnesty international; caritas; salvation army; betterplace; wikimedia; ^kickstarter; actblue; winred; world vision; habitat for humanity',
  },
];

/**
 * Houses that sell nearly everything or only carry the payment: their name says nothing about what is bought.
 */
export const GENERAL_MERCHANTS =
  'amazon; amazon marketplace; ebay; alibaba; alibaba.com; aliexpress; walmart; ^target; costco; sam s club; etsy; rakuten; mercado libre; mercadolibre; bol.com; cdiscount; allegro; kaufland marketplace; galaxus; idealo; temu; wish.com; craigslist; facebook marketplace; paypal; stripe; square; adyen; sumup; mollie; shop pay; google pay; galeria; argos; tesco marketplace; conrad marketplace; flipkart; lazada; shopee; jd.com; taobao; dollar general; woot; qvc; groupon';

/** Families that no purpose of a business covers unless it says so. */
export const PRIVATE_FAMILIES: ReadonlySet<string> = new Set([
  'gaming',
  'gambling',
  'entertainment',
  'fashion_and_beauty',
  'luxury',
  'animals',
  'sport',
  'adult',
  'art_and_craft',
  'children',
]);

/** Words of the buyer's private circle; they break a constraint that forbids private use. */
export const PRIVATE_CIRCLE_WORDS =
  'wife; husband; girlfriend; boyfriend; my son; my daughter; my mother; my mom; my dad; my kids; kids; my family; private; personal; my birthday; anniversary; honeymoon; meine frau; mein mann; familie; ma femme; mi esposa; for myself; family; at home; my house; my flat; my car; spouse; my partner';
