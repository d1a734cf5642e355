// The specs whose caches are compared with their executable specifications: every policy with its
// options, timings and visibilities.
#pragma once

#include <string>
#include <vector>

namespace kv::properties {

inline std::vector<std::string> stateful_specs() {
  std::vector<std::string> all = {"dense", "window:budget=6"};
  for (const std::string policy : {"streaming:sinks=2,recent=5",
                                   "random:sinks=1,recent=3,budget=8",
                                   "reservoir:sinks=1,recent=2,budget=7",
                                   "reservoir:algorithm=l,sinks=0,recent=1,budget=5",
                                   "reservoir:algorithm=bottom-k,sinks=2,recent=3,budget=9",
                                   "reservoir-as-printed:sinks=1,recent=3,budget=8",
                                   "h2o:sinks=1,recent=3,budget=8",
                                   "h2o:normalise=age,recent=2,budget=7",
                                   "h2o:form=flexgen,sinks=1,recent=3,budget=8",
                                   "h2o:form=mask-simulation,sinks=1,recent=3,budget=8",
                                   "a2sf:sinks=1,recent=3,budget=8",
                                   "a2sf:recent=2,budget=7,factor=0.5",
                                   "tova:recent=1,budget=6",
                                   "fifo:sinks=1,recent=2,budget=6",
                                   "lru:sinks=1,recent=2,budget=7",
                                   "scissorhands:recent=2,budget=10,history=5",
                                   "scissorhands:budget=6,drop=0",
                                   "keyformer:recent=2,budget=7",
                                   "keyformer:budget=7,noise=none,step=0.5",
                                   "keyformer:budget=7,noise=none,step=1,end=5,prompt=6",
                                   "keyformer:budget=7,select=once",
                                   "snapkv:sinks=1,recent=2,budget=8,window=4,kernel=3",
                                   "snapkv:budget=9,kernel=5,pooling=mean",
                                   "snapkv:recent=2,budget=7,select=once",
                                   "chunkkv:sinks=1,recent=2,budget=12,length=3,window=4",
                                   "chunkkv:recent=2,budget=7,length=8",
                                   "criticalkv:sinks=1,recent=2,budget=9,window=4,kernel=3",
                                   "criticalkv:recent=1,budget=7,kernel=1,first=0",
                                   "kvzip:sinks=1,recent=2,budget=8",
                                   "paged-eviction:sinks=1,recent=2,budget=12,page=3",
                                   "paged-eviction:recent=1,budget=6,page=4",
                                   "key-norm:sinks=1,recent=2,budget=7",
                                   "keydiff:sinks=1,recent=2,budget=7",
                                   "keydiff:sinks=1,recent=2,budget=7,scores=raw",
                                   "lagkv:sinks=1,recent=3,budget=8,lag=2",
                                   "lagkv:recent=1,budget=6,scores=raw",
                                   "lagkv:sinks=1,recent=2,budget=10,lag=3,partitions=ranked",
                                   "lagkv:recent=2,budget=9,lag=2,partitions=scored",
                                   "rkv:sinks=1,recent=2,budget=8,window=4,kernel=3",
                                   "rkv:recent=1,budget=7,lambda=0.5,threshold=0.25",
                                   "rkv:recent=2,budget=7,lambda=0.5,importance=middle,scores=raw",
                                   "rkv:recent=2,budget=7,threshold=0.75,lone=first,scores=raw",
                                   "expected-attention:sinks=1,recent=2,budget=7",
                                   "expected-attention:recent=1,budget=7,covariance=full",
                                   "expected-attention:budget=7,covariance=full,future=3",
                                   "expected-attention:recent=2,budget=7,future=0",
                                   "expected-attention:sinks=1,budget=7,softmax=middle,skip=3",
                                   "expected-attention:sinks=1,budget=7,epsilon=0.1",
                                   "expected-attention:budget=7,covariance=none,value-norm=no",
                                   "semantic-blocks:sinks=1,recent=2,budget=12,block=3",
                                   "semantic-blocks:recent=2,budget=7,block=8,likeness=dot",
                                   "semantic-blocks:recent=2,budget=9,block=2,scores=rotated",
                                   "token-classes:sinks=1,recent=2,budget=7",
                                   "separators:recent=1,budget=7,order=oldest",
                                   "pages:sinks=1,recent=2,budget=12,page=3",
                                   "pages:recent=2,budget=9,first-page=freed",
                                   "pages:sinks=1,recent=2,budget=9,page=4,first-page=masked",
                                   "reservoir-es:sinks=1,recent=2,budget=7",
                                   "reservoir-es:weight=value-norm,budget=8",
                                   "reservoir-chao:sinks=1,recent=2,budget=7",
                                   "reservoir-chao:weight=value-norm,budget=8",
                                   "reservoir-chao:weight=equal,budget=8"}) {
    for (const std::string timing : {"attend-then-trim", "trim-then-attend", "lazy:3"}) {
      for (const std::string visibility : {"causal", "window"}) {
        all.push_back(policy + ";timing=" + timing + ";visibility=" + visibility);
      }
    }
  }
  // Where places are ranks.
  for (const std::string policy :
       {"expected-attention:sinks=1,recent=2,budget=7,future=4", "keydiff:recent=2,budget=7",
        "lagkv:recent=3,budget=8,lag=2", "lagkv:recent=2,budget=9,lag=2,partitions=scored",
        "rkv:recent=2,budget=7,threshold=0.75",
        "semantic-blocks:recent=2,budget=9,block=2,likeness=dot,scores=rotated"}) {
    for (const std::string timing : {"attend-then-trim", "trim-then-attend", "lazy:3"}) {
      all.push_back(policy + ";positions=in-cache;timing=" + timing);
    }
  }
  return all;
}

}  // namespace kv::properties
